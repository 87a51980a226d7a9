"""Normal forms and overlap against values worked out by hand."""

import pytest

from parlai_q2.text.normalize import normalize, passage_key
from parlai_q2.text.overlap import token_f1, token_overlap


@pytest.mark.parametrize(
    'text, expected, why',
    [
        ('The Beatles', 'beatles', 'articles go'),
        ('in Los Angeles', 'los angeles', '"in" goes, which SQuAD keeps'),
        ('our planet', 'planet', '"our" goes'),
        ("it 's 99 %", 'it s 99', 'ASCII punctuation goes, its place does not'),
        ("O'Neil", 'oneil', 'punctuation inside a word joins its halves'),
        ('  inner   theatre', 'inner theatre', 'stop words are whole words'),
        ('the', '', 'nothing may be left'),
        ('', '', 'nothing in, nothing out'),
        ('Zürich – “quoted”', 'zürich – “quoted”', 'only ASCII punctuation goes'),
    ],
)
def test_normalize(text, expected, why):
    assert normalize(text) == expected, why


@pytest.mark.parametrize(
    'reference, candidate, precision, recall',
    [
        ('los angeles', 'los angeles', 1, 1),
        ('american funk rock band', 'rock band', 1, 2 / 4),
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
    assert token_f1(candidate, reference) == overlap.f1


@pytest.mark.parametrize(
    'text, other, same',
    [
        ('Cheerleading is an activity.', 'cheerleading is an activity .', True),
        ("Bees' wings", "bees ' wings", True),
        ('snake_case', 'snake case', True),
        ('ÉTÉ', 'été', True),
        ('', '!', False),
        ('🐝', '🐞', False),
        ('été', 'ete', False),
    ],
)
def test_one_passage_may_be_written_in_two_ways(text, other, same):
    assert (passage_key(text) == passage_key(other)) is same
