"""
Random pairing, by hand.
"""

import random

import pytest

from parlai_q2.tasks.conv_fever.random_pairing import Pool


def pool(*entries):
    made = Pool()
    for text, episode, topic in entries:
        made.add(text, episode, topic)
    return made


def drawn(made, *known):
    found = [made.draw(*known, random.Random(seed)) for seed in range(60)]
    return {f.text if f else None for f in found}


def test_another_text_comes_from_a_conversation_about_another_topic():
    made = pool(
        ('a', 0, 'x'), ('b', 0, 'x'), ('c', 1, 'x'), ('d', 2, 'y'), ('e', 3, 'z')
    )
    assert drawn(made, 'a', 0, 'x') == {'d', 'e'}
    assert drawn(made, 'd', 2, 'y') == {'a', 'b', 'c', 'e'}


def test_a_text_brings_its_title():
    made = Pool()
    made.add('a', 0, 'x', 'A')
    made.add('b', 1, 'y', 'B')
    assert made.draw('a', 0, 'x', random.Random(0)) == ('b', 'B')


def test_of_one_topic_another_conversation_must_do():
    made = pool(('a', 0, 'x'), ('b', 0, 'x'), ('c', 1, 'x'), ('a', 2, 'x'))
    assert drawn(made, 'a', 0, 'x') == {'c'}


@pytest.mark.parametrize('entries', [[], [('a', 0, 'x'), ('b', 0, 'x'), ('a', 1, 'y')]])
def test_where_there_is_no_other_text_there_is_no_pair(entries):
    assert drawn(pool(*entries), 'a', 0, 'x') == {None}


def test_a_rare_topic_is_found_among_many():
    made = pool(*[(f't{i}', i, 'x') for i in range(500)], ('rare', 500, 'y'))
    assert drawn(made, 't1', 1, 'x') == {'rare'}
