"""Scoring with what ships needs neither torch nor transformers."""

import subprocess
import sys

import pytest

SCORE = """
import sys
sys.modules['torch'] = sys.modules['transformers'] = None  # importing one fails
from parlai_q2 import Example, load_scorer
said = ('They have five eyes.', 'They have six eyes.')
preset, *names = sys.argv[1:]
for name in names:
    scorer = load_scorer(name, preset)
    one, other = scorer.score([Example('Bees have five eyes.', text) for text in said])
    assert one.value > other.value, (one, other)
print('spacy' in sys.modules)
"""


@pytest.mark.parametrize(
    'preset, scorers, parses',
    [
        ('mini', ['consistency', 'grounded_fast'], False),
        ('mini', ['q2', 'grounded'], True),
        ('base', ['consistency'], False),
    ],
)
def test_the_shipped_models_run_without_torch(preset, scorers, parses):
    done = subprocess.run(
        [sys.executable, '-c', SCORE, preset, *scorers], capture_output=True, text=True
    )
    assert done.stdout.strip() == str(parses), done.stderr


def test_the_command_scores_without_torch(tmp_path):
    pairs, out = tmp_path / 'pairs.jsonl', tmp_path / 'scores.jsonl'
    pairs.write_text(
        '{"knowledge": "Bees have five eyes.", "response": "Five eyes."}\n'
    )
    code = (
        'import sys; sys.modules["torch"] = sys.modules["transformers"] = None\n'
        'from parlai_q2.__main__ import main; main()'
    )
    options = ['--infile', str(pairs), '--outfile', str(out)]
    options += ['--measure', 'consistency']
    done = subprocess.run(
        [sys.executable, '-c', code, 'score', *options], capture_output=True, text=True
    )
    assert out.exists() and '"score"' in out.read_text(), done.stderr[-2000:]
