"""Reads csv files with known columns and JSON lists, as data sets are published."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from parlai_q2.errors import RecordError

T = TypeVar('T')


def read_rows(
    path: str, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """
    Read the rows of a csv file; line breaks inside quotes are kept.

    :param path: a UTF-8 file.
    :param columns: the columns that its header must have; it may have others.
    :return: for each row, the line it ends on and its fields by column.
    :raises RecordError: if a column is missing or a row is broken; names the line.
    """
    with open(path, encoding='utf-8', newline='') as lines:
        reader = csv.DictReader(lines, strict=True)
        try:
            missing = [c for c in columns if c not in (reader.fieldnames or [])]
            if missing:
                raise RecordError(path, 1, f'there is no column {missing[0]!r}')
            for row in reader:
                if None in row or None in row.values():
                    raise RecordError(
                        path,
                        reader.line_num,
                        'the row has more or fewer fields than the header',
                    )
                yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as e:
            # DictReader's own line_num stops at the last good row.
            line = reader.reader.line_num
            raise RecordError(path, line, f'cannot be read as csv: {e}') from e


def read_list(
    path: Path, kind: str, data_set: str, make: Callable[[Any, int], T]
) -> list[T]:
    """
    Read a file that is one JSON list.

    :param kind: what an item is, e.g. ``pair``, for messages.
    :param data_set: what the file is of, for messages.
    :param make: makes something of an item and its number, from 1.
    :raises RecordError: when the file is another, or an item has another form; the line
        is the item's number.
    """
    try:
        items = json.loads(path.read_text(encoding='utf-8'))
    except ValueError as e:
        raise RecordError(str(path), 1, f'cannot be read as JSON: {e}') from e
    if not isinstance(items, list):
        raise RecordError(str(path), 1, f'must hold a list of {kind}s')
    rows = []
    for number, item in enumerate(items, 1):
        try:
            rows.append(make(item, number))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            problem = f'({kind} {number}) is not a {kind} of {data_set}: {e!r}'
            raise RecordError(str(path), number, problem) from e
    return rows
