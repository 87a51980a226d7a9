"""Extractive fragments, worked out by hand."""

import pytest

from parlai_q2.text.overlap import extractiveness, fragments


@pytest.mark.parametrize(
    'knowledge, response, lengths',
    [
        ('a b c d', 'c d a b', [2, 2]),
        ('a b c d', 'x y', []),
        ('a b x a b c', 'a b c', [3]),  # the longest of two runs
        ('a b', 'b b b', [1, 1, 1]),  # a token may be copied again
        ('a b c', 'a x c', [1, 1]),
        # A run that begins inside another is not looked at, as in Newsroom's code.
        ('a b a b a c', 'a b a c', [3, 1]),
        ('a', '', []),
    ],
)
def test_fragments(knowledge, response, lengths):
    assert fragments(knowledge.split(), response.split()) == lengths


def test_coverage_and_density():
    # Six tokens, the full stop among them; a run of three, and one alone.
    measured = extractiveness('Bees have five eyes.', 'they have FIVE eyes now .')
    assert measured.coverage == pytest.approx(4 / 6)
    assert measured.density == pytest.approx((9 + 1) / 6)
    # All of the response is copied, from a knowledge half as long.
    assert extractiveness('Five eyes', 'five eyes, five eyes') == (4 / 5, 8 / 5)
    assert extractiveness('Bees.', '  ') == (0, 0)
