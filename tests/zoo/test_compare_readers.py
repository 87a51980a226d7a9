"""
The comparison of readers: its arithmetic, and questions that are asked once.
"""

import numpy as np
import pytest

from parlai_q2.zoo.train.compare_readers import KeptQuestions, Scored, difference
from parlai_q2.zoo.train.data import read_rows

TRUTH = np.array([True, True, False, False])


def scored(*values):
    return Scored(np.array(values), TRUTH, [])


def test_a_reader_that_ranks_all_right_gains_what_the_first_lacked():
    # The first has 2 of 4 pairs right, the second all.
    first, second = scored(0.9, 0.1, 0.5, 0.2), scored(0.9, 0.8, 0.5, 0.2)
    found = difference(first, second, rounds=200)
    assert (first.auc, second.auc) == (0.5, 1.0)
    assert found.value == pytest.approx(second.auc - first.auc) == 0.5
    assert found.low <= found.value <= found.high


def test_equal_readers_do_not_differ():
    same = scored(0.9, 0.1, 0.5, 0.2)
    assert difference(same, same, rounds=50) == (0.0, 0.0, 0.0)


def test_the_same_seed_gives_the_same_interval():
    first, second = scored(0.9, 0.1, 0.5, 0.2), scored(0.9, 0.8, 0.5, 0.6)
    assert difference(first, second, 50, 3) == difference(first, second, 50, 3)


class Asker:
    settings = {'qg': 'toy'}

    def __init__(self):
        self.asked = []

    def generate(self, pairs):
        self.asked += pairs
        return [[f'What is {span}?'] for span, _ in pairs]


def test_a_question_is_asked_once_also_in_a_later_run(tmp_path):
    path, asker = tmp_path / 'questions.jsonl', Asker()
    first = KeptQuestions(asker, path)
    assert first.generate([('a', 't'), ('b', 't'), ('a', 't')]) == [
        ['What is a?'],
        ['What is b?'],
        ['What is a?'],
    ]
    later = KeptQuestions(asker, path)
    assert later.generate([('b', 't'), ('c', 't')]) == [['What is b?'], ['What is c?']]
    assert asker.asked == [('a', 't'), ('b', 't'), ('c', 't')]
    assert len(read_rows(path)) == 3
    assert later.settings == asker.settings
