"""Quantities are compared by value."""

from pathlib import Path

import pytest

from parlai_q2.text import agreement
from parlai_q2.text.agreement import (
    MOST_COMPARED,
    agrees,
    conflicts,
    unsupported_amounts,
)
from parlai_q2.text.amounts import find_amounts
from parlai_q2.text.overlap import known_share
from parlai_q2.text.restate import restate


@pytest.mark.parametrize(
    'knowledge, text, read',
    [
        ('It takes 90 minutes.', 'an hour and a half', '90 minutes'),
        ('It takes 90 minutes.', 'about an hour and a half!', '90 minutes!'),
        ('It is 828 metres tall.', 'a bit over 2,700 feet', '828 metres'),
        ('42.195 kilometres', 'roughly 26.2 miles', '42.195 kilometres'),
        ('60,000 cars cross it', 'sixty thousand', '60,000'),
        ('for two decades', 'twenty years', 'two decades'),
        ('It boils at 100 °C.', '212 degrees fahrenheit', '100 °C'),
        ('It costs 250 pence.', '2.5 pounds', '2.5 pounds'),  # a weight
        ('3 weeks', 'half an hour', 'half an hour'),
        ('417 people', 'more than four hundred people', '417 people'),
        ('417 people', 'fewer than four hundred', 'fewer than four hundred'),
        ('a dose of 4 g', 'at most 5 g', 'at most 5 g'),
        ('drivers must be 21', 'at least 18', 'at least 18'),
        ('12 apostles', 'a dozen', '12'),
        ('one of them', 'a few of them', 'a few of them'),
        ('1,100 seats', 'eleven hundred seats', '1,100 seats'),
        ('open 10 a.m. to 6 p.m.', 'it is 10:00-18:00.', 'it is 10 a.m. to 6 p.m.'),
        ('open 10 a.m. to 6 p.m.', '10am-6pm on Sunday', '10 a.m. to 6 p.m. on Sunday'),
        ('open 10 a.m. to 6 p.m.', '10:00-19:00', '10 a.m.-19:00'),
        (
            'to 18:00',
            'to 6 p.m. on Sundays, to 6 p.m.',
            'to 18:00 on Sundays, to 18:00.',
        ),
        ('5 minutes', 'it takes 5 min. we go', 'it takes 5 minutes. we go'),
        ('a day has 24 hours', '24 hours', '24 hours'),
        ('between 2 and 4 days', 'between two and four days', 'between 2 and 4 days'),
        ('125 days', 'a hundred and twenty-five days', '125 days'),
        ('In 1990', 'In 1991', 'In 1991'),
        ('from 1990 to 2002', 'he left in 2002', 'he left in 2002'),
        ('from 1990 to 2002', 'he ruled until 2002', 'he ruled until 2002'),
        ('from 1990 to 1995', 'between 1990 and 1995', 'between 1990 and 1995'),
        ('at least 24 hours', '24 hours or more', 'at least 24 hours'),
        ('under 12 free', 'a 12-year-old', 'a 12-year-old'),
        ('valid for 2 years', 'less than 2 years', 'less than 2 years'),
        ('the minimum age is 18', '18 or older', '18 or older'),
        ('open 9 am to 9 pm', 'it closes at 9 pm.', 'it closes at 9 pm.'),
        ('', '5 km', '5 km'),
        ('5 km', '', ''),
        ('१२ km', '٣ km 🙂', '٣ km 🙂'),
    ],
)
def test_what_agrees_is_put_as_the_knowledge_has_it(knowledge, text, read):
    assert restate(knowledge, text) == read


@pytest.mark.parametrize(
    'knowledge, text, expected',
    [
        ('42.195 kilometres', '42.195 miles', True),
        ('42.195 kilometres', '42.195 km', False),
        ('at 100 degrees Celsius', 'at 100 °F', True),
        ('2 days or 48 hours', '48 hours', False),
        ('5 days', '5 people', False),
        ('5 people', '5 days', False),
        ('5 days', '7 days', True),
        ('5 days', 'about 7 days', False),  # for the detector to judge
        ('a month', 'a year', True),
    ],
)
def test_an_amount_that_the_knowledge_measures_otherwise_conflicts(
    knowledge, text, expected
):
    assert conflicts(knowledge, text) is expected


def test_a_quantity_knows_its_place_and_what_is_told_of_it():
    text = 'It has more than twelve rooms.'
    (amount,) = find_amounts(text)
    assert text[amount.start : amount.end] == 'twelve'
    assert text[amount.qualified_start : amount.end] == 'more than twelve'
    assert (amount.value, amount.bound) == (12, 1)


@pytest.mark.parametrize(
    'knowledge, text, share, why',
    [
        ('five eyes, two large', 'it has 5 eyes', 1.0, 'five is 5'),
        ('five eyes', '5 eyes, 3 small', 0.5, '3 is not known'),
        ('', 'eyes', 1.0, 'no number, so none is unknown'),
        ('', '5', 0.0, 'no knowledge'),
        ('', 'at noon', 1.0, 'any hour about it'),
        ('10 a.m. to 6 p.m.', 'from 10:00 to 18:00', 1.0, 'the same hours'),
        ('opens at 10, closes at 18:00', '10:00-18:00', 1.0, 'both ends are known'),
        ('the A380 of the 19th', 'A380, 20th', 0.5, 'words with digits are compared'),
    ],
)
def test_the_share_of_known_amounts(knowledge, text, share, why):
    assert known_share(knowledge, text) == share, why


@pytest.mark.parametrize(
    'text', ['9' * 400, '1,2,3,' * 999, 'million ' * 500, '\x00½', 'half an ']
)
def test_odd_numbers_are_read_without_an_error(text):
    restate(text, text)
    conflicts(text, text)


@pytest.mark.parametrize(
    'known, text',
    [('{}', '{}'), ('{} m wide', 'about {} m long'), ('{}-9 m', '~ {} m')],
)
def test_of_many_amounts_few_are_compared(known, text, monkeypatch):
    compared = []

    def count(*amounts):
        compared.append(amounts)
        return agrees(*amounts)

    monkeypatch.setattr(agreement, 'agrees', count)
    numbers = range(1000, 9000, 16)
    knowledge, response = ('; '.join(map(f.format, numbers)) for f in (known, text))
    unsupported_amounts(knowledge, response)
    assert len(numbers) <= len(compared) <= 3 * MOST_COMPARED * len(numbers)


def read_sheet():
    lines = Path(__file__).with_name('amounts.tsv').read_text('utf-8').splitlines()
    for line in lines[1:]:
        knowledge, right, wrong = line.split('\t')
        yield knowledge, right.split(' | '), wrong.split(' | ')


@pytest.mark.parametrize('knowledge, right, wrong', list(read_sheet()))
def test_amounts_of_replies_are_known_or_not(knowledge, right, wrong):
    assert not [text for text in right if unsupported_amounts(knowledge, text)]
    assert not [text for text in wrong if not unsupported_amounts(knowledge, text)]
