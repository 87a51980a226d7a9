"""Random pairing, by hand."""

import random

import pytest

from parlai_q2.tasks.conv_fever.random_pairing import Pool


def pool(*entries):
    made = Pool()
    for text, episode in entries:
        made.add(text, episode)
    return made


def drawn(made, *known):
    found = [made.draw(*known, random.Random(seed)) for seed in range(60)]
    return {f.text if f else None for f in found}


def test_another_text_comes_from_any_other_conversation():
    made = pool(('a', 0), ('b', 0), ('c', 1), ('d', 2), ('e', 3))
    assert drawn(made, 'a', 0) == {'c', 'd', 'e'}
    assert drawn(made, 'd', 2) == {'a', 'b', 'c', 'e'}


def test_a_text_brings_its_title():
    made = Pool()
    made.add('a', 0, 'A')
    made.add('b', 1, 'B')
    assert made.draw('a', 0, random.Random(0)) == ('b', 'B')


@pytest.mark.parametrize('entries', [[], [('a', 0), ('b', 0), ('a', 1)]])
def test_where_there_is_no_other_text_there_is_no_pair(entries):
    assert drawn(pool(*entries), 'a', 0) == {None}


def test_a_rare_text_is_found_among_many():
    made = pool(*[('a', i) for i in range(500)], ('rare', 500))
    assert drawn(made, 'a', 1) == {'rare'}
