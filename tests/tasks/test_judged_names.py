"""
What BEGIN's parts are called where they are read as judged sets.
"""

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.tasks.judged_sets import read_set


def read(sets, task):
    return read_set(task, {'datapath': str(sets), 'datatype': 'valid'})


@pytest.mark.parametrize(
    'task, name, title, responses',
    [
        ('begin:test', 'begin_test', 'BEGIN test', 3),
        ('begin:wow:test', 'begin_wow_test', 'BEGIN test, wow', 1),
        ('begin:tc', 'begin_tc', 'BEGIN dev, tc', 1),
        ('begin:v1', 'begin_v1', 'BEGIN v1 dev', 5),
        ('begin:v1:test', 'begin_v1_test', 'BEGIN v1 test', 1),
        ('begin:v1:hallucination', 'begin_v1_hallucination', None, 1),
        ('q2:begin:v1_classification', 'begin_v1', 'BEGIN v1 dev', 5),
        ('parlai_q2.tasks.begin.agents:V1Teacher', 'begin_v1', 'BEGIN v1 dev', 5),
    ],
)
def test_they_are_named_and_titled_by_their_words(sets, task, name, title, responses):
    found = read(sets, task)
    assert found.name == name and len(found.responses) == responses
    assert found.title == title or title is None


def test_scorers_were_fitted_on_the_dev_set_of_the_later_release_alone(sets):
    names = ('begin', 'begin:tc', 'begin:test', 'begin:v1')
    assert [read(sets, n).fitted_on for n in names] == [True, True, False, False]


def test_two_folds_are_two_sets(sets):
    with pytest.raises(ConfigError, match='dev or test. Name one'):
        read(sets, 'begin:dev:test')
