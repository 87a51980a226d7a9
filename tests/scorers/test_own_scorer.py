"""A scorer that stands elsewhere is named by its module and class."""

import pytest

from parlai_q2 import Example, load_scorer, register_scorer, scorer_names
from parlai_q2.errors import ConfigError, UnknownNameError

OWN = """
from parlai_q2.scorers.overlap import OverlapScorer

class Own(OverlapScorer):
    name = 'own'
"""


def test_module_and_class_name_a_scorer(tmp_path, monkeypatch):
    (tmp_path / 'own_scorer_of_a_test.py').write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    scorer = load_scorer('own_scorer_of_a_test:Own', threshold=0.25)
    assert scorer.threshold == 0.25
    assert scorer.score([Example('a b', 'a b')])[0].value == 1


@pytest.mark.parametrize(
    'name, problem',
    [
        ('nowhere_to_be_found:make', 'PYTHONPATH'),
        ('parlai_q2.nowhere:make', 'PYTHONPATH'),
        ('parlai_q2.records:make', "has no 'make'"),
        ('parlai_q2.records:not_verifiable', 'is not a Scorer'),
        ('parlai_q2.records:Score', 'is not a Scorer'),
        ('..:x', 'module:Class'),
    ],
)
def test_a_class_that_is_no_scorer_is_a_clear_error(name, problem):
    with pytest.raises(ConfigError, match=problem):
        load_scorer(name)


def test_a_module_that_lacks_another_says_so_itself(tmp_path, monkeypatch):
    (tmp_path / 'needy_scorer_of_a_test.py').write_text('import nowhere_at_all')
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match='nowhere_at_all'):
        load_scorer('needy_scorer_of_a_test:make')


def test_a_name_without_a_module_is_still_looked_up():
    with pytest.raises(UnknownNameError, match="Did you mean 'precision'"):
        load_scorer('precison')


def test_a_scorer_is_written_with_its_module():
    with pytest.raises(ConfigError, match="module:Class, not 'make'"):
        register_scorer('mine', 'make')
    assert 'mine' not in scorer_names()
