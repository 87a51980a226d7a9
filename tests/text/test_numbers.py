"""Numbers are the same in digits and in letters."""

import pytest

from parlai_q2.text.numbers import known_numbers, numbers


@pytest.mark.parametrize(
    'text, expected',
    [
        ('in 1969, 3.5 metres and 1,000 films', {'1969', '3.5', '1000'}),
        ('Two or twelve', {'2', '12'}),
        ('one of the best', set()),
        ('', set()),
    ],
)
def test_numbers(text, expected):
    assert numbers(text) == expected


@pytest.mark.parametrize(
    'knowledge, text, share, why',
    [
        ('five eyes, two large', 'it has 5 eyes', 1.0, 'five is 5'),
        ('five eyes', '5 eyes, 3 small', 0.5, '3 is not known'),
        ('', 'eyes', 1.0, 'no number, so none is unknown'),
        ('', '5', 0.0, 'no knowledge'),
    ],
)
def test_known_numbers(knowledge, text, share, why):
    assert known_numbers(knowledge, text) == share, why
