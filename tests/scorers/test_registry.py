"""Scorers are found by name, or by module and class, and take checked options."""

import pytest

from parlai_q2 import Example, load_scorer
from parlai_q2.errors import ConfigError, Q2Error
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer
from parlai_q2.scorers.q2 import SOFT_THRESHOLD
from tests.files import run_python

OWN_SCORER = """
from parlai_q2.scorers.overlap import OverlapScorer

class Own(OverlapScorer):
    name = 'own'
"""


@pytest.fixture
def module_of(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return lambda name, text: (tmp_path / f'{name}.py').write_text(text)


def test_module_and_class_name_a_scorer(module_of):
    module_of('own_scorer_of_a_test', OWN_SCORER)
    scorer = load_scorer('own_scorer_of_a_test:Own', threshold=0.25)
    assert (scorer.name, scorer.threshold) == ('own', 0.25)
    assert scorer.score([Example('a b', 'a b')])[0].value == 1


@pytest.mark.parametrize(
    'name, options, problem',
    [
        ('nowhere_to_be_found:make', {}, 'PYTHONPATH'),
        ('parlai_q2.claims:make', {}, "has no 'make'"),
        ('parlai_q2.claims:Score', {}, 'is not a Scorer'),
        ('..:x', {}, 'module:Class'),
        (None, {}, 'must be a string'),
        ('precison', {}, "Did you mean 'precision'"),
        ('Grounded_Fast', {}, "Did you mean 'grounded_fast'"),
        ('overlap', {'colour': 'red'}, 'colour'),
        ('consistency', {'colour': 'red'}, 'colour'),
        ('q2', {'colour': 'red'}, 'colour'),
        ('q2', {'preset': None}, 'A preset must be'),
        *[('precision', {'threshold': t}, r'in \[0, 1\]') for t in (-0.1, 1.1, True)],
        *[('precision', {'threshold': t}, r'in \[0, 1\]') for t in (float('nan'), 'a')],
    ],
)
def test_what_cannot_be_loaded_says_why(name, options, problem):
    with pytest.raises(Q2Error, match=problem):
        load_scorer(name, **options)


def test_a_module_that_lacks_another_says_so_itself(module_of):
    module_of('needy_scorer_of_a_test', 'import nowhere_at_all')
    with pytest.raises(ModuleNotFoundError, match='nowhere_at_all'):
        load_scorer('needy_scorer_of_a_test:make')


@pytest.mark.parametrize(
    'options, threshold',
    [
        ({}, SOFT_THRESHOLD),
        ({'threshold': None}, SOFT_THRESHOLD),
        ({'soft_nli': False}, DEFAULT_THRESHOLD),
        ({'use_nli': False}, DEFAULT_THRESHOLD),
        ({'preset': 'paper'}, DEFAULT_THRESHOLD),
        ({'threshold': 0.1}, 0.1),
    ],
)
def test_soft_values_have_a_threshold_of_their_own(options, threshold):
    assert load_scorer('q2', **options).threshold == threshold
    assert load_scorer('overlap', threshold=None).threshold == DEFAULT_THRESHOLD


class Plain(Scorer):
    name, settings = 'plain', {}

    def score_texts(self, examples):
        raise NotImplementedError


def test_a_class_of_ones_own_takes_a_threshold():
    assert load_scorer(f'{__name__}:Plain', threshold=0.9).threshold == 0.9


@pytest.mark.parametrize('size', [0, -1, 2.5, '8', True])
def test_a_batch_holds_at_least_one(tmp_path, size):
    with pytest.raises(ConfigError, match='A batch size must be at least 1'):
        load_scorer('consistency', batch_size=size)
    path = tmp_path / 'mine.yaml'
    model = 'shipped:q2_mini/consistency'
    path.write_text(f'nli: {{model: {model}, batch_size: {size!r}}}')
    if size is not True:
        with pytest.raises(ConfigError, match=r'nli of the preset .* a batch_size of'):
            load_scorer('nli', preset=path)


def test_scorers_load_nothing_that_they_do_not_need():
    code = (
        'import sys; from parlai_q2 import Example, load_scorer\n'
        'for name in ("precision", "overlap", "rouge_l"):\n'
        '    load_scorer(name).score([Example("k", "r")])\n'
        'bad = {"torch", "parlai", "spacy", "transformers"} & set(sys.modules)\n'
        'assert not bad, bad'
    )
    completed = run_python(code)
    assert completed.returncode == 0, completed.stderr
