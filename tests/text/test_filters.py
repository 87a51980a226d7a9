"""Questions that check nothing: about the speakers, or vague."""

import pytest

from parlai_q2.text.filters import personal, vague

RESPONSE = 'It is a relaxing hobby called gardening.'


@pytest.mark.parametrize(
    'question, answer, lost',
    [
        ('What is it?', 'a relaxing hobby', True),
        ('What is the name of the thing?', 'gardening', True),
        ('What is the hobby called?', 'gardening', False),
        ('What is relaxing?', 'It', False),
        # All that it shares with the response is its own answer.
        ('Is gardening gardening?', 'gardening', True),
        ('What is a HOBBY?', 'gardening', False),
        ('', 'gardening', True),
    ],
)
def test_a_question_without_the_responses_content_is_vague(question, answer, lost):
    assert vague(question, RESPONSE, answer) is lost


@pytest.mark.parametrize(
    'question, expected',
    [
        ('What do you like?', True),
        ('What is my favourite band?', True),
        ('Who told you the news?', False),  # "you" is an object here
        ('What was the album "You" about?', False),
        ("Who told you the band's name?", False),  # a possessive, but not of "you"
        ('What are youre favorite foods?', True),  # the parser reads "you re"
        ('', False),
    ],
)
def test_personal_questions(question, expected):
    assert personal([question]) == [expected]
    # In a batch, each has its place.
    mixed = ['What do you do?', question, 'What do you do?', 'Who won?']
    assert personal(mixed) == [True, expected, True, False]


def test_a_passive_subject_counts_where_it_is_asked_for():
    # The paper drops personal pronouns "as the subject"; its code, active ones alone.
    assert personal(['Where were you born?']) == [False]
    assert personal(['Where were you born?'], passive=True) == [True]
