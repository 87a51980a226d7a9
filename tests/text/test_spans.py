"""What Q2 asks about, and questions that check nothing, with the spaCy pipeline."""

from types import SimpleNamespace

import pytest

from parlai_q2.text.spans import (
    drop_personal,
    filter_spans,
    informative_spans,
    names_speaker,
    only_personal,
    personal,
    read_spans,
    vague,
)
from parlai_q2.turns import Span


def texts(response):
    return [s.text for s in informative_spans([response])[0]]


def test_entities_come_first_then_noun_chunks_that_are_not_there_yet():
    span_texts = texts('The Red Hot Chili Peppers were formed in Los Angeles in 1983.')
    assert span_texts == ['The Red Hot Chili Peppers', 'Los Angeles', '1983']
    assert texts('i love it') == ['it'], 'the first person is dropped'
    assert texts('') == texts('wow!') == texts('...') == []


def test_a_noun_chunk_is_kept_once_without_regard_to_case():
    span_texts = [
        SimpleNamespace(text=text, start_char=0, end_char=len(text))
        for text in ('Paris', 'PARIS', 'The dog', 'the dog', 'I', ' ')
    ]
    doc = SimpleNamespace(ents=span_texts[:1], noun_chunks=span_texts[1:])
    assert [s.text for s in read_spans(doc)] == ['Paris', 'The dog']


def kept(*texts):
    return [s.text for s in filter_spans([Span(t, 0, len(t)) for t in texts])]


def test_pronouns_alone_are_dropped_and_spans_that_have_more_stay():
    spans = ('It', 'the bees', 'you', 'that', 'them', 'it 5', '5', '東京')
    assert kept(*spans) == ['the bees', 'that', 'it 5', '5', '東京']


def test_of_spans_that_normalise_to_one_the_first_stays():
    # "..." normalises to nothing at all.
    assert kept('the US', 'bees', 'The US', 'The bees', '...') == ['the US', 'bees']


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
        # The paper drops personal pronouns "as the subject"; its code, active ones.
        ('Where were you born?', False),
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


@pytest.mark.parametrize(
    'response, expected, is_personal',
    [
        ('I love cats.', [], True),
        ('i have two dogs .', [], True),
        ('My favorite color is green.', [], True),
        ('As a kid I lived in Berlin, the capital of Germany.', [], True),
        ('my grandfather was a beekeeper', [], True),
        ('Do you like honey?', [], True),
        # A clause of its own about something else, and what customers are told.
        ('I think bees have five eyes.', ['five', 'bees', 'five eyes'], False),
        ('Bees have five eyes. I love cats!', ['five', 'Bees', 'five eyes'], False),
        ('I know he wrote Yesterday in 1965', ['Yesterday', '1965', 'he'], False),
        ('You can return it within 30 days.', ['30 days', 'You', 'it'], False),
        ('', [], False),
    ],
)
def test_clauses_about_the_speaker_claim_nothing(response, expected, is_personal):
    spans = informative_spans([response])
    assert [span.text for span in drop_personal([response], spans)[0]] == expected
    assert only_personal([response]) == [is_personal]


@pytest.mark.parametrize(
    'question, response, expected',
    [
        ('What does the author love?', 'i love cats', True),
        ('What did the writer win?', 'The writer won a prize.', False),
        ('What do bees love?', 'i love cats', False),
    ],
)
def test_questions_about_an_author_whom_nobody_named(question, response, expected):
    assert names_speaker(question, response) is expected
