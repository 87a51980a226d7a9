"""Informative spans, with the real spaCy pipeline."""

from types import SimpleNamespace

import pytest

from parlai_q2.text.spans import filter_spans, informative_spans, spans_of
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
    assert [s.text for s in spans_of(doc)] == ['Paris', 'The dog']


def kept(*texts, **options):
    return [
        s.text for s in filter_spans([Span(t, 0, len(t)) for t in texts], **options)
    ]


SPANS = ('It', 'the bees', 'you', 'bees', 'that', 'them', 'it 5', '5', '...')


@pytest.mark.parametrize(
    'word, dropped',
    [('none', set()), ('third', {'It', 'them'}), ('personal', {'It', 'them', 'you'})],
)
def test_pronouns_alone_are_dropped_and_spans_that_have_more_stay(word, dropped):
    assert set(SPANS) - set(kept(*SPANS, drop_pronouns=word)) == dropped


def test_of_spans_that_normalise_to_one_the_first_stays():
    spans = ('the US', 'bees', 'us', 'The bees', 'Us.', '...')
    # "..." normalises to nothing at all.
    assert kept(*spans, duplicates=False) == ['the US', 'bees']
