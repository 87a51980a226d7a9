"""Replies to questions for the hours of a day, by the sentences of schedules."""

import pytest

from parlai_q2.text.day_answers import fits_day
from parlai_q2.text.prepare import prepare_passage

LIBRARY = 'Open Mon-Fri 9:00-19:00 and Saturday 10-4. Closed on Sundays.'
DOCTOR = 'Mon 8-12, 15-18\nTue 8-12\nWed closed'
TWO = 'The pool is open Sat 9-5 and closed on Sundays. The sauna is open Sun 2 pm-9 pm.'
ALIKE = 'The pool is open Sun 9-5. The sauna is open Sun 2 pm-9 pm.'


@pytest.mark.parametrize(
    'knowledge, question, reply, fits',
    [
        (LIBRARY, 'Are you open on Sunday?', "No, we're closed.", True),
        (LIBRARY, 'are you open sundays', 'Sorry, we are closed at weekends.', True),
        (LIBRARY, 'Are you open on Sunday?', 'Yes.', False),
        (LIBRARY, 'Are you open on Sunday?', 'We open on Mondays at 9.', False),
        (LIBRARY, 'Are you closed on Sunday?', 'Yes.', True),
        (LIBRARY, 'When do you close on Friday?', 'At 7 pm.', True),
        (LIBRARY, 'When do you close on Friday?', 'At 7 am.', False),
        (LIBRARY, 'When do you close on Friday?', 'We open at 9:00.', False),
        (LIBRARY, 'When do you open on Friday?', 'At 9.', True),
        (LIBRARY, 'What are your hours on Saturday?', 'From 10 to 4.', True),
        (LIBRARY, 'Can I come on Saturday?', 'Yes, until 16:00.', True),
        (LIBRARY, 'Can I come on Saturday?', 'Yes, from 9 to 7.', False),
        (LIBRARY, 'Can I come on Saturday?', 'Bring a card.', None),
        (LIBRARY, 'Are you open on Sunday?', 'Every day except Sunday.', None),
        (LIBRARY, 'Is Sunday a day of rest?', 'No.', None),
        (LIBRARY, 'Are you open on Sunday, 3 May?', 'No.', None),
        (DOCTOR, 'Are you open on Monday afternoon?', 'Yes, from 3 to 6.', True),
        (DOCTOR, 'Are you open on Tuesday afternoon?', 'No.', True),
        (DOCTOR, 'Is the practice open on Wednesday?', 'Yes, it is.', False),
        (TWO, 'Is the sauna open on Sunday?', 'Yes, until 9 pm.', True),
        (TWO, 'Is the pool open on Sunday?', 'Yes, until 9 pm.', False),
        (ALIKE, 'Is the bar open on Sunday?', 'Yes, from 9 to 5.', None),
        (TWO, 'Are you open on Sunday?', 'Yes, until 9 pm.', None),
        ('Yoga: Sunday 9-12', 'Are you open on Sunday?', 'No.', None),
        ('', 'Are you open on Sunday?', 'No.', None),
    ],
)
def test_replies_fit_the_day_that_is_asked_for(knowledge, question, reply, fits):
    text = prepare_passage(knowledge, with_days=True).text
    assert fits_day(text, question, reply) is fits


def test_a_short_question_leans_on_an_earlier_one():
    text = prepare_passage(LIBRARY, with_days=True).text
    earlier = 'Are you open on Saturday?'
    assert fits_day(text, 'And on Sunday?', 'Yes, from 10 to 4.', earlier) is False
    assert fits_day(text, 'And on Sunday?', 'Yes, from 10 to 4.') is None
