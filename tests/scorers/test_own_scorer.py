"""
A scorer that stands elsewhere is named by its factory.
"""

import pytest

from parlai_q2 import Example, load_scorer, register_scorer, scorer_names
from parlai_q2.errors import ConfigError, UnknownNameError

OWN = """
from parlai_q2.scorers.overlap import OverlapScorer

def make(preset, threshold=0.5, **options):
    return OverlapScorer(threshold=threshold)
"""


def test_module_and_factory_name_a_scorer(tmp_path, monkeypatch):
    (tmp_path / 'own_scorer_of_a_test.py').write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    scorer = load_scorer('own_scorer_of_a_test:make', threshold=0.25)
    assert scorer.threshold == 0.25
    assert scorer.score([Example('a b', 'a b')])[0].value == 1


@pytest.mark.parametrize(
    'name, problem',
    [
        ('nowhere_to_be_found:make', 'PYTHONPATH'),
        ('parlai_q2.nowhere:make', 'PYTHONPATH'),
        ('parlai_q2.records:make', "has no 'make'"),
        ('parlai_q2.records:not_verifiable', 'is not a Scorer|does not take'),
    ],
)
def test_a_factory_that_is_none_is_a_clear_error(name, problem):
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


def test_a_factory_is_written_with_its_module():
    with pytest.raises(ConfigError, match="module:function, not 'make'"):
        register_scorer('mine', 'make')
    assert 'mine' not in scorer_names()
