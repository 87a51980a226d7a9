"""Statements about one end of opening hours."""

import pytest

from parlai_q2.text.hours import complete_hours, contradicts_schedule

SHOP = 'The shop is open from 10 am to 4 pm. The sauna opens from noon to 9 pm.'


@pytest.mark.parametrize(
    'statement, expected',
    [
        ('The shop closes at 4 pm.', 'The shop is open from 10 am to 4 pm.'),
        ('We close at 4 pm today.', 'We are open from 10 am to 4 pm today.'),
        ('It shuts at 4 p.m.', 'It is open from 10 am to 4 pm.'),
        ('It stays open until 4 pm.', 'It stays open from 10 am to 4 pm.'),
        ('It opens at 10 am.', 'It is open from 10 am to 4 pm.'),
        ('They open at noon.', 'They are open from noon to 9 pm.'),
        ('It opens at 10 am and closes at 4 pm.',
         'It is open from 10 am to 4 pm and is open from 10 am to 4 pm.'),
        # The wrong end, half of the day, hour, or verb.
        ('It closes at 10 am.', None),
        ('It opens at 4 pm.', None),
        ('It closes at 4 am.', None),
        ('It closes at 5 pm.', None),
        ('It sells out at 4 pm.', None),
        ('It is open from 10 am to 4 pm.', None),
    ],
)  # fmt: skip
def test_one_end_of_opening_hours_is_read_as_all_of_them(statement, expected):
    assert complete_hours(SHOP, statement) == (expected or statement)


def test_hours_in_which_nothing_is_open_are_left_alone():
    statement = 'It closes at 5 am.'
    bar = 'The bar is open from 6 pm until late. Happy hour runs from 6 pm to 5 am.'
    assert complete_hours(bar, statement) == statement
    assert complete_hours('Closed from 9 pm to 5 am.', statement) == statement
    assert complete_hours('It opened in 1903.', statement) == statement


def test_hours_of_another_day_do_not_count():
    shop = (
        'On Monday it is open from 9 am to 5 pm.\n'
        'On Sunday it is open from 10 am to 2 pm.'
    )
    full = 'On Monday it is open from 9 am to 5 pm.'
    assert complete_hours(shop, 'On Monday it closes at 5 pm.') == full
    wrong = 'On Sunday it closes at 5 pm.'
    assert complete_hours(shop, wrong) == wrong


@pytest.mark.parametrize('verb', ['is open at 10 am', 'will close at 4 pm'])
def test_verbs_with_an_auxiliary_are_left_alone(verb):
    assert complete_hours(SHOP, f'The shop {verb}.') == f'The shop {verb}.'


@pytest.mark.parametrize(
    'statement, contradicts',
    [
        ('We are closed on Mondays.', True),
        ('The shop is not open on Mondays.', True),
        ('The shop is closed on Monday afternoons.', False),
        ('The shop is closed on Monday 6 May.', False),
        ('The bar is closed on Mondays.', False),
        ('We are open on Sundays.', True),
        ('The bar is open on Sundays.', False),
        ('We close at 5 pm on Mondays.', False),
        ('On Mondays the shop is open until 6 pm.', True),
        ('On Mondays it is open from 9 to 17.', False),
        ('On Mondays it is open from 9 to 18.', True),
        ('On Tuesdays it is open from 9 to 18.', False),
        ('The fair is on Fridays.', True),
    ],
)
def test_what_a_schedule_denies(statement, contradicts):
    knowledge = (
        'On Monday the shop is open from 9:00 to 17:00.\n'
        'On Sunday the shop is closed.\nThe fair is on Friday, 3 May.'
    )
    assert contradicts_schedule(knowledge, statement) is contradicts
