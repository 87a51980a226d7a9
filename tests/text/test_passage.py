"""Which texts are one passage."""

import pytest

from parlai_q2.text.normalize import passage_key


@pytest.mark.parametrize(
    'one, other',
    [
        ('Cheerleading is an activity.', 'cheerleading is an activity .'),
        ("Bees' wings", "bees ' wings"),
        ('a\nb', 'a b'),
        ('snake_case', 'snake case'),
        ('ÉTÉ', 'été'),
    ],
)
def test_one_passage_written_in_two_ways(one, other):
    assert passage_key(one) == passage_key(other)


@pytest.mark.parametrize(
    'one, other',
    [('five eyes', 'six eyes'), ('', '!'), ('🐝', '🐞'), ('été', 'ete'), ('蜂', '蝶')],
)
def test_two_passages(one, other):
    assert passage_key(one) != passage_key(other)
