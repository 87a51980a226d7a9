"""Pronouns, duplicates and vague questions: what small models ask too much about."""

import pytest

from parlai_q2.records import Span
from parlai_q2.text.filters import vague
from parlai_q2.text.spans import filter_spans


def kept(*texts, **options):
    return [
        s.text for s in filter_spans([Span(t, 0, len(t)) for t in texts], **options)
    ]


SPANS = ('It', 'the bees', 'you', 'bees', 'that', 'them', 'it 5', '5', '...')


def test_without_filters_every_span_stays():
    assert kept(*SPANS) == list(SPANS)


@pytest.mark.parametrize(
    'word, dropped',
    [('third', {'It', 'them'}), ('all', {'It', 'them', 'you', 'that'})],
)
def test_pronouns_alone_are_dropped_and_spans_that_have_more_stay(word, dropped):
    assert set(SPANS) - set(kept(*SPANS, drop_pronouns=word)) == dropped


def test_of_spans_that_normalise_to_one_the_first_stays():
    spans = ('the US', 'bees', 'us', 'The bees', 'Us.', '...')
    # "..." normalises to nothing at all.
    assert kept(*spans, duplicates=False) == ['the US', 'bees']


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
