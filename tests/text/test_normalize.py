"""Normal forms and overlap against values worked out by hand."""

import pytest

from parlai_q2.text.normalize import copy_key, normalize, passage_key
from parlai_q2.text.overlap import (
    coverage,
    extractiveness,
    fragments,
    token_f1,
    token_overlap,
)


@pytest.mark.parametrize(
    'text, expected, why',
    [
        ('The Beatles', 'beatles', 'articles go'),
        ('in Los Angeles', 'los angeles', '"in" goes, which SQuAD keeps'),
        ('our planet', 'planet', '"our" goes'),
        ("The Beatles' hits, in 1964!", 'beatles hits 1964', 'all of this'),
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


@pytest.mark.parametrize(
    'text, other, same',
    [
        ('Type O+.', 'type O+', True),
        ('Type O+.', 'Type O-.', False),
        ('a mark of A-', 'a mark of A', False),
        ('It is written in C.', 'It is written in C++.', False),
        ('by -4 %', 'by +4 %', False),
        ('It is - so far - well-known.', 'It is, so far, well known.', True),
        ('pages 3-5', 'pages 3–5', True),
    ],
)
def test_signs_of_copies_count_and_dashes_do_not(text, other, same):
    assert (copy_key(text) == copy_key(other)) is same


@pytest.mark.parametrize(
    'knowledge, response, lengths',
    [
        ('a b c d', 'c d a b', [2, 2]),
        ('a b c d', 'x y', []),
        ('a b x a b c', 'a b c', [3]),  # the longest of two runs
        ('a b', 'b b b', [1, 1, 1]),  # a token may be copied again
        ('a b c', 'a x c', [1, 1]),
        # A run that begins inside another is not looked at, as in Newsroom's code.
        ('a b a b a c', 'a b a c', [3, 1]),
        ('a', '', []),
    ],
)
def test_fragments(knowledge, response, lengths):
    assert fragments(knowledge.split(), response.split()) == lengths
    assert coverage(knowledge, response) == extractiveness(knowledge, response).coverage


def test_coverage_and_density():
    # Six tokens, the full stop among them; a run of three, and one alone.
    measured = extractiveness('Bees have five eyes.', 'they have FIVE eyes now .')
    assert measured.coverage == pytest.approx(4 / 6)
    assert measured.density == pytest.approx((9 + 1) / 6)
    # All of the response is copied, from a knowledge half as long.
    assert extractiveness('Five eyes', 'five eyes, five eyes') == (4 / 5, 8 / 5)
    assert extractiveness('Bees.', '  ') == (0, 0)
