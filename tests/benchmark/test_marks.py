"""Edits are found where they are, and marks are counted against them."""

from dataclasses import replace

import pytest

from benchmarks.grounded_data import record
from benchmarks.marks import MarkedPair, changes, measure_marks, read_swaps
from parlai_q2.claims import Claim, Status
from parlai_q2.errors import InputError
from parlai_q2.turns import Span
from tests.files import write_lines
from tests.rerank.toys import ToyScorer

K = 'The wall divided Berlin from 1961 to 1989.'


class Marker(ToyScorer):
    """Marks the last word of what its knowledge does not have all words of."""

    def _score(self, example):
        score = super()._score(example)
        start = example.response.rindex(' ') + 1
        span = Span(example.response[start:], start, len(example.response))
        status = Status.SUPPORTED if score.value == 1 else Status.CONTRADICTED
        return replace(score, claims=(Claim(span, 0.0, status),))


def test_rates_of_marks_on_edits_and_of_marks_where_none_belongs():
    pairs = [
        MarkedPair('a b c', 'a b x', (Span('x', 4, 5),)),
        MarkedPair('a b c', 'x b c', (Span('x', 0, 1),)),
        MarkedPair('a b c', 'a b c'),
        MarkedPair('a b c', 'a b'),
        MarkedPair('a b c', 'a d'),
    ]
    report = measure_marks(Marker(), pairs)
    assert report['overlap'].mean == 0.5
    assert report['false_marks'].mean == pytest.approx(1 / 3)
    assert report['words'] == 1
    with pytest.raises(InputError, match='edited pairs and entailed pairs'):
        measure_marks(Marker(), pairs[:2])


@pytest.mark.parametrize(
    'after, changed',
    [
        ('Bo built Rome in 1980, not Ann.', ['1980']),
        ('Ann built Rome in 1979, not Bo.', ['Ann', 'Bo']),
        ('Bo built Rome in 1979, Ann.', ['1979']),
        ("Bo didn't build Rome in 1979, not Ann.", ["didn't build"]),
        ('built Rome in 1979, not Ann.', ['built']),
        ('', []),
    ],
)
def test_what_was_changed_in_a_text(after, changed):
    edits = changes('Bo built Rome in 1979, not Ann.', after)
    assert [span.text for span in edits] == changed
    assert all(after[s.start : s.end] == s.text for s in edits)


def test_the_swaps_of_the_examples_have_their_edits(tmp_path):
    def swap(kind, response, knowledge=K):
        return record('swaps', kind, 3, (knowledge, response), 'x')

    path = write_lines(
        tmp_path / 'examples.jsonl',
        swap('number', 'It stood until 1993.'),
        swap('turn', 'It stood until 1989.'),
        swap('same_topic', 'It stood until 1989.', 'Other knowledge.'),
        record('wow', 't5', 3, (K, 'It fell in 1989.'), 'x'),
    )
    wrong, right = read_swaps(str(path))
    assert wrong == MarkedPair(K, 'It stood until 1993.', (Span('1993', 15, 19),))
    assert right == MarkedPair(K, 'It stood until 1989.')
