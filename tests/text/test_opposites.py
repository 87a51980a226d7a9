"""Replies that speak of check-out where check-in is asked for."""

import pytest

from parlai_q2.text.opposites import speaks_of_opposite


@pytest.mark.parametrize(
    'question, reply, is_opposite',
    [
        ('What time is check-in?', 'Check - out is until 11 am.', True),
        ('when do i have to check out', 'You can check in from 3 pm.', True),
        ('When can we arrive?', 'Departure is at 10.', True),
        ('Where do I pick it up?', 'Drop it off at the desk.', True),
        ('When can I check in?', 'Check-in is at 3, check-out at 11.', False),
        ('When are check-in and check-out?', 'Check out by 11 am.', False),
        ('When can I check in?', 'At 3 pm. Check out by 11 am.', False),
        ('When do you open?', 'Check out by 11 am.', False),
        ('When can I check in?', '', False),
    ],
)
def test_a_reply_about_the_opposite_is_no_answer(question, reply, is_opposite):
    assert speaks_of_opposite(question, reply) is is_opposite
