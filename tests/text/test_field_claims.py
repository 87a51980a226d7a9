"""The amounts of a response are bound to the fields of records."""

import pytest

from parlai_q2.text.bindings import binds_otherwise
from parlai_q2.text.field_claims import misplaces_amount, read_field_claims
from parlai_q2.text.prepare import prepare_passage

SPENDING = prepare_passage(
    '[{"name": "eating-out", "amountThisPeriod": "$22.31", "transactions": 2, '
    '"amountLastPeriod": "$94.00"}, {"name": "groceries", "amountThisPeriod": '
    '"$310.75", "transactions": 14, "amountLastPeriod": "$288.10"}]'
).text
TRAIN = prepare_passage(
    'IC 1073\nDeparture: 07:42\nArrival: 11:15\nStops: 9\nFirst class: 64 euros\n'
    'Second class: 39 euros'
).text
SALES = prepare_passage(
    'region,sales this year,sales last year\nNorth,4200,3900\nSouth,2750,3100'
).text
ORDER = prepare_passage(
    '{"items_ordered": 6, "items_shipped": 4, "subtotal": "$148.00", '
    '"shipping_fee": "$9.50", "total": "$157.50"}'
).text
GROUP = prepare_passage(
    'Choir\nMinimum singers: 5\nMaximum singers: 12\nHall: 30 m'
).text


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        (SPENDING, 'It fell from $94.00 to $22.31.', False),
        (SPENDING, 'It fell from $22.31 to $94.00.', True),
        (SPENDING, 'Eating out rose from $94.00 to $22.31.', True),
        (SPENDING, 'Groceries are $310.75, up from $288.10.', False),
        (SPENDING, 'Groceries are $310.75, down from $288.10.', True),
        (SPENDING, 'Groceries are $288.10, up from $310.75.', True),
        (SPENDING, 'Last period it was $94.00.', False),
        (SPENDING, 'Last period it was $22.31.', True),
        (SPENDING, 'It was not $22.31 last period.', False),  # for the detector
        (SALES, 'The South sold 2750 this year after 3100.', False),
        (SALES, 'The South sold 3100 this year after 2750.', True),
        (SALES, 'The North sold about 4200 this year.', False),
        (TRAIN, 'It leaves at 07:42 and arrives at 11:15.', False),
        (TRAIN, 'It leaves at 11:15 and arrives at 07:42.', True),
        (TRAIN, 'It runs from 07:42 to 11:15.', False),
        (TRAIN, 'IC 1073 has 9 stops after its departure at 07:42.', False),
        (TRAIN, 'Second class costs 39 euros, first class 64 euros.', False),
        (TRAIN, 'Second class costs 64 euros, first class 39 euros.', True),
        (ORDER, '4 of the 6 items have shipped.', False),
        (ORDER, 'You pay $9.50 for shipping and $157.50 in total.', False),
        (ORDER, 'The total is $148.00.', True),
        (ORDER, 'The subtotal is $148.00.', False),
        (GROUP, 'At least 5 and at most 12 people sing.', False),
        (GROUP, 'The minimum is 12 singers.', True),
        (GROUP, 'Between 5 and 12 singers fill the 30 m.', False),
        ('The old price is 5 euros. It was 6.', 'The old price is 6.', False),  # prose
        ('', 'It fell from $94.00 to $22.31.', False),
        (SPENDING, '', False),
    ],
)
def test_amounts_of_other_fields(knowledge, response, expected):
    assert misplaces_amount(knowledge, response) is expected
    assert misplaces_amount(knowledge, response.lower()) is expected


@pytest.mark.parametrize(
    'knowledge, response, expected',
    [
        (
            SPENDING,
            'You spent $22.31 on eating out over 2 transactions, down from $94.00.',
            [
                ('You spent $22.31 on eating out', False),
                ('over 2 transactions', True),
                ('down from $94.00.', True),
            ],
        ),
        (SALES, 'It sold 2750 this year', [('It sold 2750 this year', True)]),
        (SALES, 'The South sold 2750 this week.', []),  # another period
        (SALES, 'The South sold 2750 shops this year.', []),  # more than the field
        (SALES, 'The South sold 3100 this year.', []),  # another field
        (SALES, 'The South sold 2750 and 77.', []),  # an amount of none
        (SALES, 'The South did not sell 2750 this year.', []),
        (ORDER, '4 of the 6 items have shipped.', []),  # cannot be cut
        (ORDER, 'The rest follows.', []),
        (TRAIN, 'IC 1073 has 9 stops', [('IC 1073 has 9 stops', True)]),
        (TRAIN, ', '.join(['9 stops'] * 13), []),  # a list
    ],
)  # fmt: skip
def test_claims_of_a_response(knowledge, response, expected):
    claims = read_field_claims(knowledge, response)
    assert [(claim.text, claim.is_copy) for claim in claims] == expected
    assert all(claim.sentence in knowledge for claim in claims)


@pytest.mark.parametrize('knowledge', [SPENDING, TRAIN, SALES, ORDER, GROUP])
def test_no_field_is_another_one(knowledge):
    for sentence in knowledge.splitlines():
        assert not binds_otherwise(knowledge, sentence)
