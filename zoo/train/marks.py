"""
Measures whether evidence points at the right words, on pairs with a known edit::

    python -m parlai_q2.zoo.train.marks --pairs cons.valid.jsonl.gz --scorers spans,q2

The pairs are lines with a premise ``p``, a response ``h``, its class ``y`` (0 entailed,
1 unsupported, 2 contradicted, 3 chit-chat) and its source ``src``. An inconsistent
response that differs from its premise in one short stretch of words has its edit there:
a swapped name, another number, a negation. Two rates are reported: the share of these
responses with a mark that overlaps the edit, and the share of entailed responses with
any mark. A mark is a span that the evidence calls contradicted or not in the knowledge.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean
from typing import Any, Optional

from parlai_q2.bootstrap import mean_interval
from parlai_q2.errors import InputError, Q2Error
from parlai_q2.records import Example, Score, Span
from parlai_q2.report.spans import Status, status_of
from parlai_q2.scorers import Scorer, load_scorer
from parlai_q2.zoo.train.data import read_rows

# The sources whose responses were made from their premises.
MADE = 'd-syn-'
LONGEST_EDIT = 6  # words
# The classes of the pairs; the fourth is chit-chat.
ENTAILED, NOT_ENTAILED = 0, (1, 2)
_WORD = re.compile(r'\w+|[^\w\s]')


@dataclass(frozen=True)
class Pair:
    """
    A response to knowledge.

    :param edit: where it says something else; None if it is consistent.
    """

    knowledge: str
    response: str
    edit: Optional[Span] = None


def edit_of(knowledge: str, response: str) -> Optional[Span]:
    """
    The one stretch of words of a response that its knowledge has not in that place.

    :return: None if there are several, or it has more than :data:`LONGEST_EDIT` words.

    >>> edit_of('It opened in 1969, in Paris.', 'It opened in 1971.')
    Span(text='1971', start=13, end=17)
    """
    known = [found[0].lower() for found in _WORD.finditer(knowledge)]
    said = list(_WORD.finditer(response))
    matcher = SequenceMatcher(None, known, [m[0].lower() for m in said], False)
    changed = [
        (first, end)
        for kind, _, _, first, end in matcher.get_opcodes()
        if kind in ('replace', 'insert')
        and any(word[0].isalnum() for word in said[first:end])
    ]
    if len(changed) != 1:
        return None
    ((first, end),) = changed
    if end - first > LONGEST_EDIT:
        return None
    start, stop = said[first].start(), said[end - 1].end()
    return Span(response[start:stop], start, stop)


def read_edited(path: str) -> Iterator[Pair]:
    """The pairs of a file that are entailed, or have one known edit."""
    for row in read_rows(path):
        if not row['src'].startswith(MADE):
            continue
        if row['y'] == ENTAILED:
            yield Pair(row['p'], row['h'])
        elif row['y'] in NOT_ENTAILED and (edit := edit_of(row['p'], row['h'])):
            yield Pair(row['p'], row['h'], edit)


def marks_of(score: Score) -> list[Span]:
    """The spans of a response that its evidence does not support."""
    return [
        v.response_answer for v in score.verdicts if status_of(v) != Status.SUPPORTED
    ]


def measure_marks(scorer: Scorer, pairs: Sequence[Pair]) -> dict[str, Any]:
    """
    How well a scorer's marks fit the known edits.

    :return: ``overlap`` (over edited pairs) and ``false_marks`` (over consistent ones),
        as intervals, and ``words``, the mean length of a mark on an edited response.
    :raises InputError: when there are only edited pairs, or only consistent ones.
    """
    scores = scorer.score([Example(pair.knowledge, pair.response) for pair in pairs])
    overlap, false, words = [], [], []
    for pair, score in zip(pairs, scores, strict=True):
        marks = marks_of(score)
        if pair.edit is None:
            false.append(float(bool(marks)))
            continue
        start, end = pair.edit.start, pair.edit.end
        overlap.append(float(any(m.start < end and start < m.end for m in marks)))
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
    parser.add_argument('--pairs', required=True)
    parser.add_argument('--scorers', default='spans,q2')
    parser.add_argument('--most', type=int, default=150, help='pairs of each kind')
    args = parser.parse_args()
    draw = random.Random(0)
    pairs = list(read_edited(args.pairs))
    kinds = [p for p in pairs if p.edit], [p for p in pairs if not p.edit]
    chosen = [
        pair for kind in kinds for pair in draw.sample(kind, len(kind))[: args.most]
    ]
    edited = sum(pair.edit is not None for pair in chosen)
    out = sys.stdout.write
    out(f'{edited} edited and {len(chosen) - edited} entailed responses\n')
    out(f'{"":8}{"marks overlap the edit":26}{"marks where none is":26}words a mark\n')
    for name in args.scorers.split(','):
        found = measure_marks(load_scorer(name), chosen)
        rates = f'{found["overlap"]!s:26}{found["false_marks"]!s:26}'
        out(f'{name:8}{rates}{found["words"]:.1f}\n')


if __name__ == '__main__':
    try:
        main()
    except Q2Error as error:
        sys.stderr.write(f'{error}\n')
        sys.exit(2)
