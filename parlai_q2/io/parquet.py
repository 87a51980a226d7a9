"""
Reads Parquet files row by row with pyarrow, which holds one batch of a row group at a
time.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from parlai_q2.errors import InputError
from parlai_q2.io.locations import Location, state_of
from parlai_q2.io.strict_json import read_json
from parlai_q2.optional import check_package

ENDINGS = ('parquet', 'pq')
# Rows that are decoded at a time.
BATCH = 256


class Row(NamedTuple):
    """
    A row: its number, from 1, its fields as JSON has them, those of them that had NaN
    or Infinity, and how many of the file's bytes come up to it, by the share of rows.
    """

    number: int
    fields: dict[str, Any]
    nulled: tuple[str, ...]
    read: int


def parquet_rows(path: Location) -> Iterator[Row]:
    """
    The rows of a file, in order.

    :raises InputError: if the file cannot be read.
    :raises MissingPackageError: if pyarrow is not installed.
    """
    check_package('pyarrow', 'pyarrow', 'parquet', f'Reading {path}')
    from pyarrow import parquet

    try:
        stream, size = path.open('rb'), state_of(path)['size']
    except OSError as e:
        raise InputError(f'Cannot read {path}: {e.strerror}.') from e
    number = 0
    with stream:
        try:
            file = parquet.ParquetFile(stream)
            total = max(1, file.metadata.num_rows)
            for batch in file.iter_batches(BATCH):
                for fields in batch.to_pylist():
                    number += 1
                    # Dates, decimals and bytes are read as texts.
                    value, nulled = read_json(json.dumps(fields, default=_text))
                    yield Row(number, value, nulled, size * number // total)
        except (OSError, ValueError, KeyError, NotImplementedError) as e:
            raise InputError(
                f'{path} cannot be read as Parquet after row {number}: {e}'
            ) from e


def _text(value: Any) -> str:
    return value.decode(errors='replace') if isinstance(value, bytes) else str(value)
