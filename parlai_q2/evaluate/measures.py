"""
The scores that one scorer, or one column of a file, gives to the texts of an
evaluation.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from parlai_q2.claims import Comparison, Score
from parlai_q2.errors import ConfigError, InputError, RecordError, UnknownNameError
from parlai_q2.evaluate.sets import AnnotatedResponse, Pair
from parlai_q2.io.fields import NO_NAMES
from parlai_q2.io.files import file_sha256
from parlai_q2.io.read import read_valid
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, label_of
from parlai_q2.tables import Cell
from parlai_q2.text.class_map import Finding, has_findings
from parlai_q2.text.normalize import passage_key

if TYPE_CHECKING:
    import numpy as np


# An annotated response, or a response paired with knowledge that is not its own.
Scored = AnnotatedResponse | Pair


@dataclass(frozen=True)
class ScoreTable:
    """
    The scores from a scorer, or from a column of a file.

    :param name: the name that tables print.
    :param signature: how to reproduce the scores.
    :param threshold: a score of at most this is inconsistent; None for scores outside
        [0, 1], which have no threshold.
    :param scores: scores by (knowledge, response); some may be missing.
    """

    name: str
    signature: str
    threshold: float | None
    scores: Mapping[Pair, Score]

    def __contains__(self, scored: Scored) -> bool:
        return _pair(scored) in self.scores

    def score(self, scored: Scored) -> Score:
        """The score of a response; a KeyError when it has none."""
        return self.scores[_pair(scored)]

    def select_scored(
        self, responses: Sequence[AnnotatedResponse]
    ) -> list[AnnotatedResponse]:
        """The responses that have a score, in order."""
        return [r for r in responses if r in self]

    def values(
        self, responses: Sequence[Scored], part: str | None = None
    ) -> 'np.ndarray':
        """The values of n scored responses, or of one of ``Score.parts``: [n]."""
        import numpy as np

        scores = [self.score(r) for r in responses]
        return np.array(
            [s.parts[part] if part else s.value for s in scores], dtype=float
        )


def likeliest(score: Score) -> str | None:
    """The likeliest class, without generic; None without class probabilities."""
    if not has_findings(score):
        return None
    stated = [finding for finding in Finding if finding != Finding.GENERIC]
    return max(stated, key=lambda finding: score.parts[finding])


def by_likeliest_class(measure: ScoreTable) -> ScoreTable | None:
    """
    A measure that calls a response consistent if entailment is the likeliest class, as
    the papers do before they merge the other classes; None without class probabilities.
    """
    if not measure.scores or not all(map(has_findings, measure.scores.values())):
        return None
    scores = {}
    for pair, score in measure.scores.items():
        value = float(likeliest(score) == Finding.ENTAILMENT)
        label = label_of(value, DEFAULT_THRESHOLD)
        scores[pair] = replace(score, value=value, label=label)
    name = f'{measure.name}, likeliest class'
    return ScoreTable(name, measure.signature, DEFAULT_THRESHOLD, scores)


def passages(responses: Sequence[Scored]) -> list[str]:
    """
    A key for each response's passage of knowledge. The bootstrap draws the responses of
    one passage together.
    """
    return [passage_key(_pair(r)[0]) for r in responses]


def _pair(scored: Scored) -> Pair:
    return scored.pair if isinstance(scored, AnnotatedResponse) else scored


def questions(measure: ScoreTable, responses: Sequence[Scored]) -> dict[str, Cell]:
    """
    Count a measure's questions about responses that it has scored.

    :return: the numbers of ``responses`` and ``questions``; the share of questions that
        the knowledge does not answer (``no_answer``), and of responses with a question
        (``coverage``), None if there are none.
    """
    scores = [measure.score(r) for r in responses]
    claims = itertools.chain.from_iterable(score.question_claims for score in scores)
    answers = [claim.comparison != Comparison.NO_ANSWER for claim in claims]
    asked = sum(bool(score.question_claims) for score in scores)
    return {
        'responses': len(scores),
        'questions': len(answers),
        'no_answer': answers.count(False) / len(answers) if answers else None,
        'coverage': asked / len(scores) if scores else None,
    }


def read_column(text: str, names: Mapping[str, str] = NO_NAMES) -> ScoreTable:
    """
    Read a column of scores made elsewhere; cells without a score are left out.

    :param text: ``FILE:COLUMN`` or ``NAME=FILE:COLUMN``; the name is for the tables.
    :param names: as for :func:`~parlai_q2.io.read.read_records`.
    :return: the scores as a measure, whose threshold is 0.5 if all scores are in
        [0, 1] and None otherwise.
    :raises ConfigError: for a text of another form.
    :raises RecordError: when a cell holds anything but a number, or a pair of texts has
        two different scores.
    :raises UnknownNameError: when a record lacks the column.
    :raises InputError: when the file cannot be read, or the column has no score.
    """
    name, equals, rest = text.partition('=')
    file, _, key = (rest if equals else text).rpartition(':')
    if not (file and key and name):
        raise ConfigError(
            f'{text!r} does not name a column. Write FILE:COLUMN or '
            'NAME=FILE:COLUMN, e.g. mine=scores.csv:my_score'
        )
    name, path = name if equals else key, Path(file)
    values: dict[Pair, float] = {}
    for record, example in read_valid(path, names=names):
        if key not in record.fields:
            raise UnknownNameError(f'column (in {path})', key, record.fields)
        pair = example.knowledge_text, example.response
        value = number_in(record.fields, key, path, record.line)
        if value is None:
            continue
        if values.setdefault(pair, value) != value:
            raise RecordError(
                str(path),
                record.line,
                f'{key} is {value:g}, but was {values[pair]:g} earlier for the same '
                'knowledge and response',
            )
    if not values:
        raise InputError(f'{path} has no score in the column {key!r}.')
    bounded = all(0 <= v <= 1 for v in values.values())
    threshold = DEFAULT_THRESHOLD if bounded else None
    signature = f'{name}|file:{path.name}|column:{key}'
    if bounded:
        signature += f'|threshold:{DEFAULT_THRESHOLD:g}'
    signature += f'|sha256:{file_sha256(path)[:10]}'
    scores = {
        pair: Score(value, label_of(value, DEFAULT_THRESHOLD), signature=signature)
        for pair, value in values.items()
    }
    return ScoreTable(name, signature, threshold, scores)


# The texts, besides NaN, that pandas and other tools write for a missing number.
MISSING = ('', 'none', 'null', 'na', 'n/a')


def number_in(
    fields: Mapping[str, object], key: str, path: Path, line: int
) -> float | None:
    """
    The number in a field of a record; None if it is missing, RecordError for other
    values.
    """
    cell = fields.get(key)
    if str(cell).strip().lower() in MISSING:
        return None
    try:
        value = math.inf if isinstance(cell, bool) else float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        value = math.inf
    if math.isinf(value):
        problem = f'{key} is {cell!r}, which is not a finite number'
        raise RecordError(str(path), line, problem)
    return None if math.isnan(value) else value
