"""Values of records are bound to the names and keys of their fields."""

import pytest

from parlai_q2.text.fields import misplaces_value
from parlai_q2.text.prepare import prepare_passage

PLANS = prepare_passage(
    '| Plan | Price | Storage | Support |\n|---|---|---|---|\n'
    '| Basic | 9 euros | 10 GB | forum |\n| Pro | 19 euros | 100 GB | email |'
).text
TRAIN = prepare_passage(
    'IC 1073\nDeparture: 07:42\nArrival: 11:15\nStops: 9\nFirst class: 64 euros\n'
    'Second class: 39 euros'
).text
SALES = prepare_passage(
    'region,staff,head\nNorth,42,Bea Okoye\nSouth,27,Ivo Marek'
).text
MIXED = prepare_passage(
    'Oven\nRoast: 200 °C\nBread: 230 °C\n\nPizza needs 230 °C.'
).text


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        (PLANS, 'Pro costs 19 euros.', False),
        (PLANS, 'Basic costs 19 euros.', True),
        (PLANS, 'Basic costs 9 euros, and Pro has 100 GB.', False),
        (PLANS, 'Basic costs 9 euros, and has 100 GB.', True),  # the name holds
        (PLANS, 'Pro has support by email.', False),
        (PLANS, 'Basic has support by email.', True),
        (PLANS, 'Basic costs less than 19 euros.', False),  # for the detector
        (PLANS, 'It costs 19 euros.', False),
        (PLANS, 'Basic costs 29 euros.', False),  # a value of no field
        (SALES, 'Bea Okoye is the head of the North.', False),
        (SALES, 'Bea Okoye is the head of the South.', True),
        (SALES, 'The North has 27 staff.', True),
        (TRAIN, 'Departure is at 07:42, arrival at 11:15.', False),
        (TRAIN, 'Departure is at 11:15, arrival at 07:42.', True),
        (TRAIN, 'IC 1073 has 9 stops after its departure at 07:42.', False),
        (TRAIN, 'Second class costs 39 euros and first class 64 euros.', False),
        (TRAIN, 'Second class costs 64 euros and first class 39 euros.', True),
        (MIXED, 'Roast is at 230 °C.', False),  # another sentence has the value, too
        ('The old price is 5 euros. It was 6.', 'The old price is 6.', False),  # prose
        ('', 'Basic costs 19 euros.', False),
        (PLANS, '', False),
    ],
)
def test_values_of_other_fields(knowledge, response, expected):
    assert misplaces_value(knowledge, response) is expected
    assert misplaces_value(knowledge, response.lower()) is expected


@pytest.mark.parametrize('knowledge', [PLANS, TRAIN, SALES, MIXED])
def test_a_copy_misplaces_nothing(knowledge):
    for sentence in knowledge.splitlines():
        assert not misplaces_value(knowledge, sentence)
