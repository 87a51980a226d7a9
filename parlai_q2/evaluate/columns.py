"""
Reads scores that were made elsewhere from a column of a csv, tsv or JSON lines file.

The file's records have the column itself, and ``knowledge`` and ``response``, by which
they are matched with the set. The file may have more or fewer records than the set.
"""

import math
from pathlib import Path
from typing import Any, NamedTuple, Optional

from parlai_q2.errors import ConfigError, InputError, RecordError, UnknownNameError
from parlai_q2.evaluate.judged import Pair
from parlai_q2.evaluate.measure import Measure
from parlai_q2.io.files import file_sha256
from parlai_q2.io.read import read_records
from parlai_q2.records import Score
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, label_of

# What pandas and other tools write for a missing score.
MISSING = ('', 'nan', 'none', 'null', 'na', 'n/a')


class ColumnName(NamedTuple):
    """
    A column to be read, and the name of its scores.
    """

    name: str
    path: Path
    column: str


class ColumnScores(NamedTuple):
    """
    A column as a measure, and the number of its cells without a score.
    """

    measure: Measure
    missing: int


def parse_column(text: str) -> ColumnName:
    """
    Read ``FILE:COLUMN`` or ``NAME=FILE:COLUMN``.

    :raises ConfigError: for another form.
    """
    given, equals, rest = text.rpartition('=')
    path, colon, column = rest.rpartition(':')
    if not (colon and path and column) or (equals and not given):
        raise ConfigError(
            f'{text!r} does not name a column. Write FILE:COLUMN or '
            'NAME=FILE:COLUMN, e.g. mine=scores.csv:my_score'
        )
    return ColumnName(given or column, Path(path), column)


def read_column(column: ColumnName) -> ColumnScores:
    """
    Read the scores of one column.

    :param column: the file and the column.
    :return: the scores as a measure, whose threshold is 0.5 if all scores are in
        [0, 1] and None otherwise. Cells without a score are counted and left out.
    :raises RecordError: when a cell holds anything but a number, or a pair of texts has
        two different scores.
    :raises UnknownNameError: when a record lacks the column.
    :raises InputError: when the file cannot be read, or the column has no score.
    """
    values: dict[Pair, float] = {}
    missing = 0
    for record in read_records(column.path):
        if record.error is not None:
            raise record.error
        assert record.example is not None
        if column.column not in record.fields:
            raise UnknownNameError(
                f'column (in {column.path})', column.column, record.fields
            )
        value = _number(record.fields[column.column], column, record.line)
        if value is None:
            missing += 1
            continue
        pair = record.example.knowledge, record.example.response
        if values.setdefault(pair, value) != value:
            raise RecordError(
                str(column.path),
                record.line,
                f'{column.column} is {value:g}, but was {values[pair]:g} earlier '
                'for the same knowledge and response',
            )
    if not values:
        raise InputError(f'{column.path} has no score in the column {column.column!r}.')
    bounded = all(0 <= v <= 1 for v in values.values())
    threshold = DEFAULT_THRESHOLD if bounded else None
    signature = f'{column.name}|file:{column.path.name}|column:{column.column}'
    if bounded:
        signature += f'|threshold:{DEFAULT_THRESHOLD:g}'
    signature += f'|sha256:{file_sha256(column.path)[:10]}'
    scores = {
        pair: Score(value, label_of(value, DEFAULT_THRESHOLD), signature=signature)
        for pair, value in values.items()
    }
    return ColumnScores(Measure(column.name, signature, threshold, scores), missing)


def _number(cell: Any, column: ColumnName, line: int) -> Optional[float]:
    if cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING):
        return None
    try:
        if isinstance(cell, bool):
            raise ValueError
        value = float(cell)
    except (TypeError, ValueError, OverflowError):
        raise RecordError(
            str(column.path),
            line,
            f'{column.column} is {cell!r}, which is not a number',
        ) from None
    if math.isinf(value):
        raise RecordError(str(column.path), line, f'{column.column} is infinite')
    return None if math.isnan(value) else value
