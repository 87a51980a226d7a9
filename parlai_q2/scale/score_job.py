"""Scores records: what a process does with the records that it is sent."""

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from parlai_q2.claims import Kind, Score
from parlai_q2.errors import RecordError
from parlai_q2.io.parquet import Column
from parlai_q2.io.read import Record
from parlai_q2.io.write import encode_line
from parlai_q2.lines import error_line, kind_of, score_line
from parlai_q2.scale.by_scorer import ScorerJob, ScorerWork
from parlai_q2.scale.outcomes import Made, Outcome
from parlai_q2.scorers.shell import LANGUAGE

# The kinds of columns in Parquet.
COLUMNS = {
    'kind': Column.TEXT,
    'score': Column.NUMBER,
    'label': Column.TEXT,
    'fallback': Column.TRUTH,
    **dict.fromkeys(('claims', 'parts'), Column.JSON),
    'signature': Column.TEXT,
    'line': Column.WHOLE,
    'error': Column.TEXT,
}


class Scoring(ScorerWork):
    """Makes the lines of records."""

    def __call__(self, items: Sequence[Record]) -> list[Made]:
        examples = [item.example for item in items if item.example is not None]
        scores = iter(self.scorer.score(examples))
        return [made(i, next(scores) if i.example is not None else None) for i in items]


class ScoreJob(ScorerJob):
    """Scores records."""

    work = Scoring

    def lost(self, item: Record, problem: str) -> Made:
        """The line of a record that no process survives."""
        return made(item._replace(example=None, error=lost_record(item, problem)), None)


def made(record: Record, score: Optional[Score]) -> Made:
    """The line of a record, with its score or its error."""
    outcome = outcome_of_score(score) if score else None
    problem = str(record.error) if record.error is not None else None
    if record.error is not None:
        line = error_line(record.fields, record.line, record.error, Kind.SCORE)
    else:
        assert score is not None
        line = score_line(record.fields, score)
    return Made(encode_line(line), outcome, problem)


def lost_record(item: Any, problem: str) -> RecordError:
    """The error of a record that no process survives."""
    return RecordError(item.source, item.line, f'could not be done: {problem}')


def outcome_of_score(score: Score) -> Outcome:
    """What is counted of a score."""
    return score.label, score.value, LANGUAGE in score.parts


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    """What is counted of a record, from its line; None of a bad one."""
    if kind_of(line) == Kind.ERROR:
        return None
    return line['label'], line['score'], LANGUAGE in (line.get('parts') or ())
