"""Extractive fragments, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlai_q2.text.density import extractiveness, fragments

LETTERS = st.lists(st.sampled_from('abc'), max_size=8)


@pytest.mark.parametrize(
    'knowledge, response, lengths',
    [
        ('a b c d', 'a b c d', [4]),
        ('a b c d', 'c d a b', [2, 2]),
        ('a b c d', 'x y', []),
        ('a b x a b c', 'a b c', [3]),  # the longest of two runs
        ('a b', 'b b b', [1, 1, 1]),  # a token may be copied again
        ('a b c', 'a x c', [1, 1]),
        # A run that begins inside another is not looked at, as in Newsroom's code.
        ('a b a b a c', 'a b a c', [3, 1]),
        ('', 'a', []),
        ('a', '', []),
    ],
)
def test_fragments(knowledge, response, lengths):
    assert fragments(knowledge.split(), response.split()) == lengths


@given(LETTERS, LETTERS)
def test_it_is_newsrooms_procedure(knowledge, response):
    # Grusky et al. 2018, figure 3, written out plainly.
    expected, i = [], 0
    while i < len(response):
        longest = j = 0
        while j < len(knowledge):
            if response[i] == knowledge[j]:
                k, m = i, j
                while (
                    k < len(response)
                    and m < len(knowledge)
                    and response[k] == knowledge[m]
                ):
                    k, m = k + 1, m + 1
                longest = max(longest, k - i)
                j = m
            else:
                j += 1
        if longest:
            expected.append(longest)
        i += max(longest, 1)
    assert fragments(knowledge, response) == expected


def test_coverage_and_density():
    # Six tokens, the full stop among them; a run of three, and one alone.
    found = extractiveness('Bees have five eyes.', 'they have FIVE eyes now .')
    assert found.coverage == pytest.approx(4 / 6)
    assert found.density == pytest.approx((9 + 1) / 6)
    # All of the response is copied, from a knowledge half as long.
    assert extractiveness('Five eyes', 'five eyes, five eyes') == (4 / 5, 8 / 5)
    assert extractiveness('Bees.', '  ') == (0, 0)
