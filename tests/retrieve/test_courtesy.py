"""Small talk in a chat about documents."""

import pytest

from parlai_q2.retrieve.courtesy import courtesy


@pytest.mark.parametrize(
    'message, reply',
    [
        ('Hi', 'Hello!'),
        ('hi there', 'Hello!'),
        ('Good morning', 'Hello!'),
        ('Thanks a lot!', "You're welcome!"),
        ('cool, thanks', "You're welcome!"),
        ("No, that's all. Thanks!", "You're welcome!"),
        ('How are you?', "I'm fine"),
        ("Hey, how's it going?", "I'm fine"),
        ('Can you help me?', 'I answer questions'),
        ('Who are you?', 'I answer questions'),
        ('Thank you, bye', 'Goodbye!'),
        ('Have a nice day!', 'Goodbye!'),
        ('I see. That helps a lot', 'Is there anything else'),
    ],
)
def test_small_talk_gets_a_polite_reply(message, reply):
    assert courtesy(message).startswith(reply)


@pytest.mark.parametrize(
    'message',
    [
        '',
        'Hmm',
        'Thanks, how do I pay?',
        'Hello! Can I return a pump?',
        'How are the pumps made?',
        'Can you help me with a leaking pump?',
        'What can I do?',
        'Is it good?',
        'Is breakfast good?',
        'When is it open?',
        'How much is it?',
        'How do I find it?',
        'What about the team?',
        'And you?',
        'I love tea.',
    ],
)
def test_what_says_or_asks_something_is_no_small_talk(message):
    assert courtesy(message) is None
