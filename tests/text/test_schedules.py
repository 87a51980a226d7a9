"""Opening hours are spelled out, a sentence a day, and results and dates are not."""

import time

import pytest

from parlai_q2.text.prepare import prepare_passage
from parlai_q2.text.records import has_records
from parlai_q2.text.schedules import MAX_ENTRIES, OF_A_DAY, find_day_sentences
from parlai_q2.turns import Span


def sentences(text: str) -> list[str]:
    """The sentences that preparing a passage adds for days."""
    return OF_A_DAY.findall(prepare_passage(text, with_days=True).text)


@pytest.mark.parametrize(
    'text, expected',
    [
        ('Sat: 10am-2pm', ['On Saturday it is open from 10am to 2pm.']),
        ('Sun closed', ['On Sunday it is closed.']),
        ('Fr.: 8.30-12', ['On Friday it is open from 8:30 to 12:00.']),
        (
            'We: 9-5. We are open from 9 to 5.',
            ['On Wednesday it is open from 9:00 to 5:00.'],
        ),
        (
            'The bar is open Fri-Sat from 5 pm to 1 am. Dogs are welcome.',
            [
                'On Friday the bar is open from 5 pm to 1 am.',
                'On Saturday the bar is open from 5 pm to 1 am.',
            ],
        ),
        (
            'We are open Mon & Wed 8-12, Thu 13:30-18.',
            [
                'On Monday we are open from 8:00 to 12:00.',
                'On Wednesday we are open from 8:00 to 12:00.',
                'On Thursday we are open from 13:30 to 18:00.',
            ],
        ),
        (
            'Bar hours: 12-2pm and 6-9pm Tuesdays',
            ['On Tuesday the Bar is open from 12:00 to 2pm and from 6:00 to 9pm.'],
        ),
        ('Yoga: Tue 18:00-19:30', ['Yoga: on Tuesday from 18:00 to 19:30.']),
        (
            'Winter: Mon 9-17, closed on Sundays',
            [
                'Winter: on Monday it is open from 9:00 to 17:00.',
                'Winter: on Sunday it is closed.',
            ],
        ),
        (
            '## Pool\n\n- **Sat:** 7-21\n- Sun: closed',
            [
                'On Saturday the Pool is open from 7:00 to 21:00.',
                'On Sunday the Pool is closed.',
            ],
        ),
        (
            'The tour runs on Mondays from 2 to 4 pm in summer, and costs 5 euros.',
            ['On Monday the tour runs from 2:00 to 4 pm in summer.'],
        ),
    ],
)
def test_days_are_spelled_out(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    'text',
    [
        'Team A won 3-2 on Saturday and 2-1 on Sunday.',
        'They played on Saturday 12-14 May.',
        'There came 13-15 people on Friday.',
        'The score on Sunday is 3-1.',
        'He saw her on Saturday from 9 am to 11 am.',
        'Money is paid every week, 5-10 euros.',
        'The market closed Friday at 9,000 points.',
        'Black Friday closed the year.',
    ],
)
def test_other_numbers_are_no_hours(text):
    assert sentences(text) == []


def test_a_day_that_is_left_out_is_closed():
    read = sentences('The cafe is open daily from 8:00 to 18:00 except Mondays.')

    assert 'On Monday the cafe is closed.' in read
    assert not any(line.startswith('On Monday the cafe is open') for line in read)
    assert not any('weekdays' in line for line in read)


@pytest.mark.parametrize(
    'text, expected',
    [
        ('Mon-Wed 9-5, Tuesdays 9-8.', 'Mon 9-5, Wed 9-5, Tue 9-8'),
        ('Open Mon-Wed 9-5. Closed Tuesdays.', 'Mon 9-5, Wed 9-5, Tue'),
        ('Mon-Wed, 9-5, except Tue 12-5', 'Mon 9-5, Wed 9-5, Tue 12-5'),
        ('Open Mon-Wed but Tuesday, 9-5', 'Mon 9-5, Wed 9-5, Tue'),
        ('Open Mon-Tue 9-5 (not Tuesdays)', 'Mon 9-5, Tue'),
        # Other hours on a day that the sentence names again.
        ('It is open Mon-Tue 9-5 and until 9 on Tuesdays', 'Mon 9-5'),
        ('It is open Mon-Tue 9-5, on Tuesdays until 9.', 'Mon 9-5, Tue 9-9'),
        ('It is open from 9 to 6, on Tuesdays until 4.', 'Tue 9-4'),
        ('Tuesdays until 4.', ''),
        ('Open Mon-Tue 9-5, except on Tuesdays, when it opens at 7', 'Mon 9-5'),
        # Also in the afternoon.
        ('Mon-Tue 8-12, Mon 14-18', 'Mon 8-12, Tue 8-12, Mon 14-18'),
        ('Closed on Monday 6 May. Closed on Monday, 6 May', ''),
        ('Monday\nClosed\nTuesday\n9-5', 'Mon, Tue 9-5'),
    ],
)
def test_exceptions_hold_for_their_days_alone(text, expected):
    read = []
    for line in sentences(text):
        hours = [word.partition(':')[0] for word in line.split() if word[0].isdigit()]
        read.append(f'{line[3:6]} {"-".join(hours)}'.strip())
    assert ', '.join(read) == expected


def test_the_weekend_and_weekdays_are_named():
    lines = prepare_passage('Open daily 10-16.', with_days=True).text.split('\n')

    assert lines[0] == 'Open daily 10-16.'
    assert lines[-3:] == [
        'On weekdays it is open from 10:00 to 16:00.',
        'At weekends it is open from 10:00 to 16:00.',
        'Every day it is open from 10:00 to 16:00.',
    ]


def test_sentences_stand_where_the_text_has_their_hours():
    text = 'Dogs are welcome. Sat – Sun: 10–16. Adults pay 5.'
    prepared = prepare_passage(text, with_days=True)
    sentence = 'On Sunday it is open from 10:00 to 16:00.'
    start = prepared.text.index(sentence)

    found = prepared.locate(Span(sentence, start, start + len(sentence)))

    assert text[found.start : found.end] == 'Sat – Sun: 10–16'


def test_records_stay_records():
    text = "Name: Bob's\nPhone: 123 456\nMon-Fri: 9-5\nSat: 10-2\nEmail: b@x.org"
    prepared = prepare_passage(text, with_days=True).text

    assert "The email of Bob's is b@x.org." in prepared
    assert "On Wednesday the Bob's is open from 9:00 to 5:00." in prepared
    assert has_records(prepared)


def test_days_and_hours_of_two_columns_go_together():
    table = '| Class | Day | Time |\n|---|---|---|\n| Yoga | Monday | 18:00-19:00 |'
    assert sentences(table) == ['Yoga: on Monday from 18:00 to 19:00.']


def test_hours_in_json_keep_their_owner():
    gym = '{"name": "Harbour Gym", "hours": {"Sat": "8:00-20:00", "Sun": "closed"}}'
    assert sentences(gym) == [
        'On Saturday the Harbour Gym is open from 8:00 to 20:00.',
        'On Sunday the Harbour Gym is closed.',
    ]


def test_a_long_list_is_read_in_part():
    rows = '\n'.join(f'Mon {n}:00-{n + 1}:{n:02}' for n in range(10, 20))
    text = f'{rows}\n' * 500
    start = time.perf_counter()
    assert 0 < len(find_day_sentences(text)) <= MAX_ENTRIES
    assert time.perf_counter() - start < 2
