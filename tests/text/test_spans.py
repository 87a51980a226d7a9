"""Informative spans and the personal filter, with the real spaCy pipeline."""

from types import SimpleNamespace

import pytest

from parlai_q2.text.filters import personal
from parlai_q2.text.spans import informative_spans, spans_of


def texts(response):
    return [s.text for s in informative_spans([response])[0]]


def test_entities_come_first_then_noun_chunks_that_are_not_there_yet():
    found = texts('The Red Hot Chili Peppers were formed in Los Angeles in 1983.')
    assert found == ['The Red Hot Chili Peppers', 'Los Angeles', '1983']


def test_a_noun_chunk_is_kept_once_without_regard_to_case():
    found = [
        SimpleNamespace(text=text, start_char=0, end_char=len(text))
        for text in ('Paris', 'PARIS', 'The dog', 'the dog', 'I', ' ')
    ]
    doc = SimpleNamespace(ents=found[:1], noun_chunks=found[1:])
    assert [s.text for s in spans_of(doc)] == ['Paris', 'The dog']


def test_the_first_person_is_dropped():
    assert texts('i love it') == ['it']


def test_nothing_to_ask_about():
    assert informative_spans(['', 'wow!', '...'])[0] == []


def test_every_offset_slices_back_to_its_text():
    responses = [
        'Emoji 🐼🐼 pandas eat bamboo 🎋 in China.',
        'i think so too . in 1997 they were sold to a company called sephornaud .',
        'naïve café\u200b owners — “really” love Zürich',
        'a\0b null \x1b[31m bytes',
    ]
    for response, spans in zip(responses, informative_spans(responses), strict=True):
        for span in spans:
            assert response[span.start : span.end] == span.text


def test_a_batch_gives_what_each_gives_alone():
    responses = ['He was born in Ohio.', 'coffee is very acidic', '', 'Ohio again']
    assert informative_spans(responses) == [
        informative_spans([r])[0] for r in responses
    ]


@pytest.mark.parametrize(
    'question, expected',
    [
        ('What do you like?', True),
        ('What did I buy?', True),
        ('What is my favourite band?', True),
        ('Where is your house?', True),
        ('What is the capital of France?', False),
        ('Who told you the news?', False),  # "you" is an object here
        ('What was the album "You" about?', False),
        ('In what year did the band form?', False),
        ("Who told you the band's name?", False),  # a possessive, but not of "you"
        ('What are youre favorite foods?', True),  # the parser reads "you re"
        ('', False),
    ],
)
def test_personal_questions(question, expected):
    assert personal([question]) == [expected]


def test_a_passive_subject_counts_where_it_is_asked_for():
    # The paper drops personal pronouns "as the subject"; its code, active ones alone.
    assert personal(['Where were you born?']) == [False]
    assert personal(['Where were you born?'], passive=True) == [True]


def test_personal_keeps_the_order_of_a_mixed_batch():
    questions = ['What do you do?', 'Who won?', 'What do you do?', 'What is my name?']
    assert personal(questions) == [True, False, True, True]
