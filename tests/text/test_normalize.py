"""Normalisation and overlap against values worked out by hand."""

import pytest

from parlai_q2.text.normalize import normalize
from parlai_q2.text.overlap import NO_OVERLAP, token_f1, token_overlap


@pytest.mark.parametrize(
    'text, expected, why',
    [
        ('The Beatles', 'beatles', 'articles go'),
        ('in Los Angeles', 'los angeles', '"in" goes, which SQuAD keeps'),
        ('our planet', 'planet', '"our" goes'),
        ("it 's 99 %", 'it s 99', 'ASCII punctuation goes, its place does not'),
        ("O'Neil", 'oneil', 'punctuation inside a word joins its halves'),
        ('inner theatre', 'inner theatre', 'stop words are whole words'),
        ('  a   b  ', 'b', 'spaces are squeezed'),
        ('the', '', 'nothing may be left'),
        ('', '', 'nothing in, nothing out'),
        ('Zürich – “quoted”', 'zürich – “quoted”', 'only ASCII punctuation goes'),
    ],
)
def test_normalize(text, expected, why):
    assert normalize(text) == expected, why


def test_normalize_is_idempotent_on_its_own_output():
    once = normalize('The  in-between, our "A" list.')
    assert normalize(once) == once


@pytest.mark.parametrize(
    'reference, candidate, precision, recall',
    [
        ('los angeles', 'los angeles', 1, 1),
        ('american funk rock band', 'rock band', 1, 2 / 4),
        ('1983', '1984', 0, 0),
        ('very very good', 'very good good', 2 / 3, 2 / 3),
        ('the', 'the', 0, 0),
        ('', 'words', 0, 0),
    ],
)
def test_overlap_counts_shared_words_with_repetition(
    reference, candidate, precision, recall
):
    overlap = token_overlap(reference, candidate)
    assert overlap.precision == pytest.approx(precision)
    assert overlap.recall == pytest.approx(recall)
    expected = 2 * precision * recall / (precision + recall) if precision else 0
    assert overlap.f1 == pytest.approx(expected)


def test_f1_is_symmetric():
    assert token_f1('a funk rock band', 'band of rock') == token_f1(
        'band of rock', 'a funk rock band'
    )


def test_no_overlap_is_zero_throughout():
    assert token_overlap('one', 'two') == NO_OVERLAP == (0, 0, 0)
