"""Scoring with what ships needs neither torch nor transformers."""

import subprocess
import sys

import pytest

# Importing one fails.
WITHOUT = 'import sys\nsys.modules["torch"] = sys.modules["transformers"] = None\n'
SCORE = (
    WITHOUT
    + """
from parlai_q2 import Example, load_scorer
said = ('They have five eyes.', 'They have six eyes.')
preset, *names = sys.argv[1:]
for name in names:
    scorer = load_scorer(name, preset)
    one, other = scorer.score([Example('Bees have five eyes.', text) for text in said])
    assert one.value > other.value, (one, other)
print('spacy' in sys.modules)
"""
)


@pytest.mark.parametrize(
    'preset, scorers, parses',
    [
        ('mini', ['consistency', 'grounded_fast'], False),
        ('mini', ['q2', 'grounded'], True),
        ('base', ['consistency'], False),
    ],
)
def test_the_shipped_models_run_without_torch(preset, scorers, parses):
    completed = subprocess.run(
        [sys.executable, '-c', SCORE, preset, *scorers], capture_output=True, text=True
    )
    assert completed.stdout.strip() == str(parses), completed.stderr


def test_the_command_scores_without_torch(tmp_path):
    pairs, out = tmp_path / 'pairs.jsonl', tmp_path / 'scores.jsonl'
    pairs.write_text(
        '{"knowledge": "Bees have five eyes.", "response": "Five eyes."}\n'
    )
    code = WITHOUT + 'from parlai_q2.__main__ import main; main()'
    options = ['--infile', str(pairs), '--outfile', str(out)]
    options += ['--measure', 'consistency']
    completed = subprocess.run(
        [sys.executable, '-c', code, 'score', *options], capture_output=True, text=True
    )
    assert out.exists(), completed.stderr[-2000:]
    assert '"score"' in out.read_text()


# Each asks for a package of its own accord, so that one process can try them all.
NEED_TORCH = (
    'from parlai_q2.models.loading import load_tokenizer\nload_tokenizer("a/b")',
    'from parlai_q2.models.loading import load_seq2seq\nload_seq2seq("a/b")',
    'from parlai_q2.models.loading import load_model\nload_model("a/b", None)',
    'from parlai_q2.cli.host import check_parlai\ncheck_parlai("parlai_q2 chat")',
)
TRY_EACH = """
for code in sys.argv[1:]:
    try:
        exec(code)
        print('nothing')
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), ' '))
"""


def test_what_needs_torch_says_what_to_install():
    completed = subprocess.run(
        [sys.executable, '-c', WITHOUT + TRY_EACH, *NEED_TORCH],
        capture_output=True,
        text=True,
    )
    messages = completed.stdout.splitlines()
    assert len(messages) == len(NEED_TORCH), completed.stderr
    for line, code in zip(messages, NEED_TORCH, strict=True):
        assert line.startswith('MissingPackageError '), code
        assert 'pip install "parlai_q2[torch]"' in line, code
