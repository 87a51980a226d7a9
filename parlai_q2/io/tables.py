"""Reads csv files with known columns, such as published data sets."""

import csv
from collections.abc import Iterator, Sequence

from parlai_q2.errors import RecordError


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
