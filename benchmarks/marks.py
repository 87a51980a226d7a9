"""
Measures whether evidence points at the right words, on responses with known edits::

    python -m benchmarks.marks --examples examples.jsonl --scorers spans,q2

The examples are the corpus ``swaps`` of :mod:`benchmarks.grounded_data`. Two rates are
reported: the share of edited responses with a mark that overlaps an edit, and the share
of consistent ones with any. A mark is what the evidence calls contradicted or not in
the knowledge.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any

from parlai_q2.claims import Score, Status
from parlai_q2.cli.log import run_module
from parlai_q2.errors import InputError
from parlai_q2.intervals import mean_interval
from parlai_q2.scorers import Scorer, load_scorer
from parlai_q2.turns import Example, Span
from parlai_q2.zoo.train.rows import Row, read_rows

WRONG = (Status.UNSUPPORTED, Status.CONTRADICTED)
_WORD = re.compile(r'\w+|[^\w\s]')


@dataclass(frozen=True)
class MarkedPair:
    """A response, and where it was changed: nowhere if it is consistent."""

    knowledge: str
    response: str
    edits: tuple[Span, ...] = ()


def changes(before: str, after: str) -> list[Span]:
    """
    The stretches of words of a text that another has not in that place; words that are
    missing count as the word before them.

    >>> changes('It is not red.', 'It is blue.')
    [Span(text='blue', start=6, end=10)]
    >>> changes('It is not red.', 'It is red.')
    [Span(text='is', start=3, end=5)]
    """
    earlier_words = [word.lower() for word in _WORD.findall(before)]
    matches = list(_WORD.finditer(after))
    words = [match[0].lower() for match in matches]
    spans = []
    matcher = SequenceMatcher(None, earlier_words, words, False)
    for kind, _, _, first, end in matcher.get_opcodes():
        if kind == 'delete':
            earlier = [n for n in range(first) if words[n][0].isalnum()]
            first = earlier[-1] if earlier else first
            end = first + 1
        if kind != 'equal' and any(word[0].isalnum() for word in words[first:end]):
            start, stop = matches[first].start(), matches[end - 1].end()
            spans.append(Span(after[start:stop], start, stop))
    return spans


def read_swaps(path: str) -> Iterator[MarkedPair]:
    """The turns of the corpus ``swaps``, and those whose response was changed."""
    rows = [row for row in read_rows(path) if row['corpus'] == 'swaps']
    turns = {_number(row): row for row in rows if row['kind'] == 'turn'}
    for row in rows:
        turn = turns[_number(row)]
        edits = tuple(changes(turn['response'], row['response']))
        if row is turn or edits:  # not where the knowledge was changed
            yield MarkedPair(row['knowledge'], row['response'], edits)


def _number(row: Row) -> str:
    return str(row['id'].rpartition('-')[2])


def find_marks(score: Score) -> list[Span]:
    """The spans of a response that its evidence does not support."""
    return [claim.span for claim in score.marks if claim.status in WRONG]


def measure_marks(scorer: Scorer, pairs: Sequence[MarkedPair]) -> dict[str, Any]:
    """
    How well marks fit the known edits: ``overlap`` (over edited pairs) and
    ``false_marks`` (over consistent ones) as intervals, and the mean ``words`` of a
    mark on an edited response.

    :raises InputError: when there are only edited pairs, or only consistent ones.
    """
    scores = scorer.score([Example(pair.knowledge, pair.response) for pair in pairs])
    overlap, false, words = [], [], []
    for pair, score in zip(pairs, scores, strict=True):
        marks = find_marks(score)
        if not pair.edits:
            false.append(float(bool(marks)))
            continue
        hit = [m.start < e.end and e.start < m.end for m in marks for e in pair.edits]
        overlap.append(float(any(hit)))
        words += [len(mark.text.split()) for mark in marks]
    if not overlap or not false:
        raise InputError('There must be edited pairs and entailed pairs.')
    return {
        'overlap': mean_interval(overlap),
        'false_marks': mean_interval(false),
        'words': fmean(words) if words else 0.0,
    }


def main() -> None:
    """Print the rates of each scorer."""
    parser = argparse.ArgumentParser(description='Does evidence mark the right words?')
    parser.add_argument(
        '--examples', required=True, help='a file of grounded_data, for its swaps'
    )
    parser.add_argument('--scorers', default='spans,q2')
    parser.add_argument('--most', type=int, default=150, help='pairs of each kind')
    args = parser.parse_args()
    draw = random.Random(0)
    pairs = list(read_swaps(args.examples))
    kinds = [p for p in pairs if p.edits], [p for p in pairs if not p.edits]
    chosen = [
        pair for kind in kinds for pair in draw.sample(kind, len(kind))[: args.most]
    ]
    edited = sum(bool(pair.edits) for pair in chosen)
    out = sys.stdout.write
    out(f'{edited} edited and {len(chosen) - edited} entailed responses\n')
    out(f'{"":8}{"marks overlap the edit":26}{"marks where none is":26}words a mark\n')
    for name in args.scorers.split(','):
        rates = measure_marks(load_scorer(name), chosen)
        out(f'{name:8}{rates["overlap"]!s:26}{rates["false_marks"]!s:26}')
        out(f'{rates["words"]:.1f}\n')


if __name__ == '__main__':
    run_module(main)
