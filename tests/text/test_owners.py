"""Amounts of records that are given to something else."""

import pytest

from parlai_q2.text.owners import find_stranger
from parlai_q2.text.prepare import prepare_passage

COURSE = '{"course": "pottery", "price": "48 euros"}'


@pytest.mark.parametrize(
    'knowledge',
    [
        COURSE,
        '| Course | Price |\n|---|---|\n| Pottery | 48 euros |',
        'course: pottery\nprice: 48 euros',
        'Price: 48 euros',
        'Course: Pottery | Price: 48 euros',
        'course: pottery, price: 48 euros',
        'We teach on Sundays.\n\n- Pottery: 48 euros\n- Weaving: 60 euros',
    ],
)
@pytest.mark.parametrize(
    'statement',
    [
        'The cost of delivery is 48 euros.',
        'The delivery price is 48 euros.',
        'You pay 48 euros for delivery.',
    ],
)
def test_a_record_says_nothing_of_what_it_does_not_name(knowledge, statement):
    stranger = find_stranger(prepare_passage(knowledge).text, statement)
    assert stranger is not None
    assert stranger.span.text == 'delivery'
    start, end = stranger.span[1:]
    assert statement[start:end] == 'delivery'
    assert 'price' in stranger.known or 'pottery' in stranger.known


@pytest.mark.parametrize(
    'statement',
    [
        'Pottery costs 48 euros.',
        'The potter asks for 48 euros.',
        'The fee is 48 euros.',
        'It costs 48 euros.',
        'You would pay 48 euros for it.',
        '48 euros.',
        'Adults pay 48 euros.',
        'Delivery is free.',
        'Delivery costs 5 euros.',
    ],
)
def test_a_name_a_pronoun_or_a_measure_is_no_stranger(statement):
    assert find_stranger(prepare_passage(COURSE).text, statement) is None


@pytest.mark.parametrize(
    'knowledge',
    [
        'The pottery course costs 48 euros.',
        'price: 48 euros\nplaces: 12\n\nSome of it costs 48 euros, too, as we said.',
    ],
)
def test_amounts_that_prose_has_are_left_to_the_detector(knowledge):
    text = prepare_passage(knowledge).text
    assert find_stranger(text, 'The cost of delivery is 48 euros.') is None
