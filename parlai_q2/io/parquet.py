"""
Reads Parquet files row by row with pyarrow, which holds one batch of a row group at a
time; and writes them from JSON lines, in two passes, so that memory is bounded, too.

A column holds texts, numbers, truth values or lists of texts; a column of other or
mixed values holds JSON, for which Parquet has a type.
"""

import json
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from parlai_q2.errors import InputError
from parlai_q2.io.files import Location, explain, read_state
from parlai_q2.json_values import JsonObject, read_json, write_json
from parlai_q2.packages import check_package
from parlai_q2.turns import without_surrogates

ENDINGS = ('parquet', 'pq')
# The number of rows that are decoded at a time.
BATCH = 256
# The bytes of JSON lines in a row group that we write.
GROUP_BYTES = 8 * 1024 * 1024
# A mark in the metadata of our files: their empty cells are missing fields.
OURS = b'parlai_q2'


class ParquetColumn(Enum):
    """The kinds of columns that are written."""

    TEXT = auto()
    TEXTS = auto()
    TRUTH = auto()
    EXACT = auto()  # integers that a float represents exactly
    WHOLE = auto()  # integers of 64 bits
    NUMBER = auto()
    JSON = auto()


# The kind of column that holds the values of two kinds without loss.
COMMON_KINDS = {
    frozenset({ParquetColumn.EXACT, ParquetColumn.WHOLE}): ParquetColumn.WHOLE,
    frozenset({ParquetColumn.EXACT, ParquetColumn.NUMBER}): ParquetColumn.NUMBER,
}


def is_parquet(path: Location) -> bool:
    return path.suffix.lower().lstrip('.') in ENDINGS


def check_pyarrow(what: str) -> None:
    """A MissingPackageError unless pyarrow is installed; it names the extra."""
    check_package('pyarrow', 'pyarrow', 'parquet', what)


def read_rows(path: Location) -> Iterator[tuple[int, JsonObject, tuple[str, ...], int]]:
    """
    Yield for each row its number, from 1; its fields as JSON values; the fields that
    had NaN or Infinity; and the bytes of the file up to it, estimated by the share of
    rows.
    """
    check_pyarrow(f'Reading {path}')
    from pyarrow import parquet

    try:
        stream, size = path.open('rb'), read_state(path)['size']
    except OSError as e:
        raise InputError(f'Cannot read {path}: {explain(e)}.') from e
    number = 0
    with stream:
        try:
            file = parquet.ParquetFile(stream)
            total = max(1, file.metadata.num_rows)
            ours = OURS in (file.schema_arrow.metadata or {})
            encoded = [
                field.name
                for field in file.schema_arrow
                if getattr(field.type, 'extension_name', '') == 'arrow.json'
            ]
            for batch in file.iter_batches(BATCH):
                for fields in batch.to_pylist():
                    number += 1
                    for name in encoded:
                        if fields[name] is not None:
                            fields[name] = json.loads(fields[name])
                    if ours:
                        fields = {k: v for k, v in fields.items() if v is not None}
                    # Dates, decimals and bytes are read as texts.
                    value, nulled = read_json(json.dumps(fields, default=_text))
                    yield number, value, nulled, size * number // total
        except (OSError, ValueError, KeyError, NotImplementedError) as e:
            raise InputError(
                f'{path} cannot be read as Parquet after row {number}: {e}'
            ) from e


def write_parquet(
    lines: Path, path: Path, columns: Mapping[str, ParquetColumn] = MappingProxyType({})
) -> None:
    """
    Write a Parquet file from JSON lines, each an object. A null or missing field is an
    empty cell. ``columns`` are always written, so that many files agree.
    """
    check_pyarrow('Writing Parquet')
    import pyarrow
    from pyarrow import parquet

    # None as long as all values are null.
    kinds: dict[str, ParquetColumn | None] = {}
    for fields in chain.from_iterable(_group_rows(lines)):
        for name, value in fields.items():
            if value is not None:
                kinds[name] = _merge_kinds(kinds.get(name), _infer_kind(value))
            else:
                kinds.setdefault(name, None)
    for name, kind in columns.items():
        kinds[name] = _merge_kinds(kinds.get(name), kind)
    types = {
        ParquetColumn.TEXT: pyarrow.string(),
        ParquetColumn.TEXTS: pyarrow.list_(pyarrow.string()),
        ParquetColumn.TRUTH: pyarrow.bool_(),
        ParquetColumn.EXACT: pyarrow.int64(),
        ParquetColumn.WHOLE: pyarrow.int64(),
        ParquetColumn.NUMBER: pyarrow.float64(),
        ParquetColumn.JSON: pyarrow.json_(),
    }
    schema = pyarrow.schema(
        [(name, types[kind or ParquetColumn.TEXT]) for name, kind in kinds.items()],
        {OURS: b''},
    )
    with parquet.ParquetWriter(path, schema) as writer:
        for rows in _group_rows(lines):
            cells = [
                _column(pyarrow, rows, name, field.type)
                for name, field in zip(kinds, schema)
            ]
            writer.write_table(pyarrow.Table.from_arrays(cells, schema=schema))


def _group_rows(lines: Path) -> Iterator[list[JsonObject]]:
    rows: list[JsonObject] = []
    size = 0
    with open(lines, 'rb') as stream:
        for line in stream:
            rows.append(json.loads(line))
            size += len(line)
            if size >= GROUP_BYTES:
                yield rows
                rows, size = [], 0
    if rows:
        yield rows


def _column(pyarrow: Any, rows: list[JsonObject], name: str, kind: Any) -> Any:
    values = [row.get(name) for row in rows]
    if kind != pyarrow.json_():
        return pyarrow.array(values, kind)
    texts = [None if value is None else write_json(value) for value in values]
    return pyarrow.ExtensionArray.from_storage(kind, pyarrow.array(texts, 'string'))


def _infer_kind(value: object) -> ParquetColumn:
    if isinstance(value, bool):
        return ParquetColumn.TRUTH
    if isinstance(value, int):
        size = value.bit_length()
        if size > 63:
            return ParquetColumn.JSON
        return ParquetColumn.EXACT if size <= 53 else ParquetColumn.WHOLE
    if isinstance(value, float):
        return ParquetColumn.NUMBER
    if isinstance(value, str):
        return ParquetColumn.TEXT if _is_text(value) else ParquetColumn.JSON
    if isinstance(value, list) and all(
        isinstance(item, str) and _is_text(item) for item in value
    ):
        return ParquetColumn.TEXTS
    return ParquetColumn.JSON


def _merge_kinds(first: ParquetColumn | None, second: ParquetColumn) -> ParquetColumn:
    if first is None or first == second:
        return second
    return COMMON_KINDS.get(frozenset({first, second}), ParquetColumn.JSON)


def _is_text(value: str) -> bool:
    """Whether a value is a text that UTF-8 can encode (not lone surrogates)."""
    return value.isascii() or value == without_surrogates(value)


def _text(value: object) -> str:
    return value.decode(errors='replace') if isinstance(value, bytes) else str(value)
