"""
Measures how well the answers to questions are found in documents, and whether questions
that these do not answer are declined:

    python -m benchmarks.find_answers benchmarks/documents/test/questions.jsonl

A row has ``documents`` (the name or stem of a file beside the questions), ``question``
and ``keys``: pieces of the document of which a right quote has one; none if it has no
answer. ``--fit`` prints the weights of :mod:`parlai_q2.retrieve.grounding`, fitted to
all passages that were read:

    python -m benchmarks.find_answers --fit benchmarks/documents/dev/questions.jsonl \\
        tests/retrieve/faqs/questions.jsonl

There, rows have the ``heading`` of the right passage instead of ``keys``.
"""

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.calibrate.fit import fit
from parlai_q2.io.knowledge import TurnKnowledge
from parlai_q2.retrieve.answers import AnswerReader
from parlai_q2.retrieve.build import build
from parlai_q2.retrieve.grounding import MARGIN_BOUNDS, Grounder, PassageReading
from parlai_q2.retrieve.index import Index
from parlai_q2.turns import Passage
from parlai_q2.zoo.train.rows import read_rows

OUTCOMES = ('right', 'another quote', 'declined', 'no question')
WEIGHTS = ('margin', 'nearness', 'rating', 'constant')
# The weight of the weights' squares.
RIDGE = 1e-4
# The text of a number, a word or a price.
_WORD = re.compile(r'[€£$]?\w+(?:[.:]\w+)*%?')

Row = dict[str, Any]


class RecordingGrounder(Grounder):
    """Keeps the readings of the last question."""

    last: Sequence[PassageReading] = ()

    def choose(
        self, question: str, readings: Sequence[PassageReading]
    ) -> TurnKnowledge:
        self.last = readings
        return super().choose(question, readings)


def ask(
    paths: Sequence[Path],
) -> Iterator[tuple[Row, TurnKnowledge, Sequence[PassageReading]]]:
    """Ask the questions of files, each of its document: rows, answers and readings."""
    reader = AnswerReader()
    for path in paths:
        rows = read_rows(str(path))
        for name in dict.fromkeys(row['documents'] for row in rows):
            (document,) = (p for p in path.parent.iterdir() if name in (p.name, p.stem))
            with tempfile.TemporaryDirectory() as folder:
                build([str(document)], Path(folder))
                grounder = RecordingGrounder(Index(folder), reader)
                for row in rows:
                    if row['documents'] == name:
                        grounder.last = ()
                        (found,) = grounder.ground([[row['question']]])
                        yield row, found, grounder.last


def outcome(row: Row, found: TurnKnowledge) -> str:
    """What became of a question: one of :data:`OUTCOMES`."""
    if found.declined:
        return 'declined'
    if not found.question:
        return 'no question'
    is_right = _has_answer(row, found.passages[0], found.quote)
    return 'right' if is_right else 'another quote'


def is_answerable(row: Row) -> bool:
    """Whether the documents have the answer to a question."""
    return bool(row['keys'] if 'keys' in row else row['heading'])


def fit_weights(asked: Sequence[tuple[Row, Sequence[PassageReading]]]) -> np.ndarray:
    """
    Fit the weights of margin, nearness and rating, and the constant, [4], to the
    readings of questions.
    """
    features, labels = [], []
    for row, readings in asked:
        for reading in readings:
            margin = np.clip(reading.answer.margin, *MARGIN_BOUNDS)
            features.append([margin, reading.nearness, reading.answer.rating])
            labels.append(_has_answer(row, reading.passage, reading.text))
    weights = fit(
        np.array(features), np.array(labels, dtype=float), np.ones(len(labels)), RIDGE
    )
    return np.array([*weights.weights, weights.intercept])


def _has_answer(row: Row, passage: Passage, text: str) -> bool:
    """Whether a text of a passage has the answer to a question."""
    if 'keys' in row:
        words = _words(text)
        return any(_words(key) in words for key in row['keys'])
    # The heading of a table's row is one of its cells.
    heading = passage.source.heading if passage.source else ''
    return is_answerable(row) and row['heading'] in f'{heading}\n{passage.text}'


def _words(text: str) -> str:
    return f' {" ".join(_WORD.findall(text.lower()))} '


def main() -> None:
    """Ask all questions of files, and print what became of them."""
    parser = argparse.ArgumentParser(prog='python -m benchmarks.find_answers')
    parser.add_argument('questions', nargs='+', type=Path, help='files of questions')
    parser.add_argument('--fit', action='store_true', help='fit the weights, too')
    args = parser.parse_args()
    asked = list(ask(args.questions))
    counts = Counter(
        (is_answerable(row), outcome(row, found)) for row, found, _ in asked
    )
    for has_answer, kind in ((True, 'answerable'), (False, 'unanswerable')):
        total = sum(n for (had, _), n in counts.items() if had == has_answer)
        shown = '  '.join(f'{name} {counts[has_answer, name]}' for name in OUTCOMES)
        print(f'{kind} {total:4}  {shown}')
    if args.fit:
        weights = fit_weights([(row, readings) for row, _, readings in asked])
        for name, weight in zip(WEIGHTS, weights, strict=True):
            print(f'{name} {weight:.3f}')


if __name__ == '__main__':
    main()
