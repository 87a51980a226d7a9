"""Scoring with what ships needs neither torch nor transformers."""

from tests.files import run_python

# Importing one fails.
WITHOUT = 'import sys\nsys.modules["torch"] = sys.modules["transformers"] = None\n'
SCORE = (
    WITHOUT
    + """
from parlai_q2 import Example, load_scorer
said = ('They have five eyes.', 'They have six eyes.')
for preset, name in (words.split() for words in sys.argv[1:]):
    scorer = load_scorer(name, preset)
    one, other = scorer.score([Example('Bees have five eyes.', text) for text in said])
    assert one.value > other.value, (name, one, other)
    print(preset, name, 'spacy' in sys.modules)
"""
)


# What needs no parser comes first, since nothing unloads one.
SCORERS = ('mini consistency', 'base consistency', 'mini grounded_fast')
PARSING = ('mini q2', 'mini grounded')


def test_the_shipped_models_run_without_torch():
    completed = run_python(SCORE, *SCORERS, *PARSING)
    expected = [f'{name} False' for name in SCORERS] + [f'{n} True' for n in PARSING]
    assert completed.stdout.splitlines() == expected, completed.stderr


# Each asks for a package of its own accord, so that one process can try them all.
NEED_TORCH = (
    'from parlai_q2.models.loading import load_tokenizer\nload_tokenizer("a/b")',
    'from parlai_q2.models.loading import load_seq2seq\nload_seq2seq("a/b")',
    'from parlai_q2.models.loading import load_model\nload_model("a/b", None)',
    'from parlai_q2.cli.commands import check_parlai\ncheck_parlai("parlai_q2 chat")',
)
TRY_EACH = """
for code in sys.argv[1:]:
    try:
        exec(code)
        print('nothing')
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), ' '))
"""


def test_features_that_need_torch_say_what_to_install():
    completed = run_python(WITHOUT + TRY_EACH, *NEED_TORCH)
    messages = completed.stdout.splitlines()
    assert len(messages) == len(NEED_TORCH), completed.stderr
    for line, code in zip(messages, NEED_TORCH, strict=True):
        assert line.startswith('MissingPackageError '), code
        assert 'pip install "parlai_q2[torch]"' in line, code
