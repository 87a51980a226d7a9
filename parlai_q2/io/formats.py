"""
The formats of files of records, and readers of the text formats: JSON lines, CSV, TSV
and ParlAI world logs. A reader yields the content of each line, or its problem.
"""

import csv
import logging
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from io import TextIOWrapper
from itertools import chain
from json import JSONDecodeError
from typing import Any, NamedTuple, TextIO

from parlai_q2.errors import Flaw, InputError
from parlai_q2.io.fields import ALIASES
from parlai_q2.io.files import Location, explain
from parlai_q2.io.parquet import ENDINGS
from parlai_q2.io.world_logs import COMMANDS_SKIPPED, read_dialog
from parlai_q2.json_values import read_json
from parlai_q2.options import Word

# A CSV cell may hold a long passage; Python's default limit is 128 kB.
CSV_FIELD_LIMIT = 16 * 1024 * 1024
# A row with more lines than this has a quote that was left open.
MAX_ROW_LINES = 1000

# The first bytes of files that are not text. UTF-32 must come before UTF-16, because
# its mark begins with that of UTF-16.
NOT_TEXT = {
    b'\xff\xfe\x00\x00': ('UTF-32', 'Convert it: iconv -f UTF-32 -t UTF-8.'),
    b'\x00\x00\xfe\xff': ('UTF-32', 'Convert it: iconv -f UTF-32 -t UTF-8.'),
    b'\xff\xfe': ('UTF-16', 'Convert it: iconv -f UTF-16 -t UTF-8.'),
    b'\xfe\xff': ('UTF-16', 'Convert it: iconv -f UTF-16 -t UTF-8.'),
    b'\x1f\x8b': ('compressed with gzip', 'Decompress it: gunzip.'),
    b'\xfd7zX': ('compressed with xz', 'Decompress it: unxz.'),
    b'\x28\xb5\x2f\xfd': ('compressed with zstd', 'Decompress it: unzstd.'),
    b'BZh9': ('compressed with bzip2', 'Decompress it: bunzip2.'),
    b'PK\x03\x04': (
        'a zip archive or an Excel workbook',
        'Unpack it, or save the sheet as CSV in UTF-8.',
    ),
    b'PAR1': ('a Parquet file', 'Name it .parquet.'),
    b'%PDF': ('a PDF', 'Give its text.'),
}
NO_DIALOG = 'has no "dialog" list; is it a ParlAI world log?'
NOT_UTF8 = 'is not UTF-8. Convert the file, e.g. iconv -f latin1 -t UTF-8.'
BAD_ROW = (
    'cannot be read as {!r}-separated ({}). Close every quote, and double the quotes '
    'inside a quoted cell. Only this line was left out.'
)
TOO_MANY_LINES = f'a cell that begins here does not end within {MAX_ROW_LINES} lines'
TOO_MANY_CELLS = (
    'has {} columns, but the header has {}. Quote texts that contain the separator.'
)
# Excel's line before the header, which names the separator.
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)
ONE_DOCUMENT = (
    'begins a JSON document over the whole file, but each line must be a record. '
    'Convert it, e.g. jq -c {!r} IN.json > OUT.jsonl'
)

_logger = logging.getLogger(__name__)


class Format(Word):
    """The formats of files of records."""

    JSONL = 'jsonl'
    CSV = 'csv'
    TSV = 'tsv'
    PARQUET = 'parquet'
    WORLD_LOGS = 'world_logs'


FORMAT_BY_SUFFIX = {
    **dict.fromkeys(('.jsonl', '.json', '.ndjson'), Format.JSONL),
    '.csv': Format.CSV,
    '.tsv': Format.TSV,
    **{f'.{ending}': Format.PARQUET for ending in ENDINGS},
}
WORKBOOKS = ('.xlsx', '.xlsm', '.xls', '.ods')
# The endings of files of records.
FILES = tuple(FORMAT_BY_SUFFIX)


class Line(NamedTuple):
    """
    A line of a file with its number, from 1: its content, its problem, the fields that
    had NaN or Infinity and are null now, a flaw of the whole file, and the bytes of the
    file read up to it.
    """

    number: int
    value: Any
    problem: str | None = None
    nulled: tuple[str, ...] = ()
    flaw: Flaw | None = None
    read: int = 0


def open_text(path: Location) -> TextIO:
    """
    Open a file as UTF-8 text. Invalid bytes become lone surrogates, so that the readers
    can report the record that has them and still read the others.
    """
    try:
        file = path.open('rb')
        # peek, not read: it consumes nothing, which matters for a pipe.
        start = file.peek(4)
    except OSError as e:
        raise InputError(
            f'Cannot read {path}: {explain(e)}. Check that the file exists and '
            'that you may read it.'
        ) from e
    for mark, (kind, remedy) in NOT_TEXT.items():
        if start.startswith(mark):
            file.close()
            raise InputError(f'{path} is {kind}, not UTF-8 text. {remedy}')
    return TextIOWrapper(file, 'utf-8-sig', errors='surrogateescape', newline='')


def infer_format(path: Location) -> Format:
    format = FORMAT_BY_SUFFIX.get(path.suffix.lower())
    if format is not None:
        return format
    if path.suffix.lower() in WORKBOOKS:
        raise InputError(f'{path.name} is a workbook. Save its sheet as CSV in UTF-8.')
    raise InputError(
        f'{path.name}: cannot tell the format from the ending. Name it .jsonl, .csv, '
        '.tsv or .parquet, or give --format.'
    )


def _is_utf8(text: str) -> bool:
    try:
        # Fails on surrogates, which stand for bytes that are not valid UTF-8.
        text.encode('utf-8')
    except UnicodeEncodeError:
        return False
    return True


def json_lines(stream: Iterable[str]) -> Iterator[Line]:
    """The lines that are not blank."""
    first = True
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        if first and (jq_filter := _find_jq_filter(line)):
            problem = ONE_DOCUMENT.format(jq_filter)
            yield Line(number, None, problem)
            return
        first = False
        if not _is_utf8(line):
            yield Line(number, None, NOT_UTF8)
            continue
        try:
            value, nulled = read_json(line)
            yield Line(number, value, None, nulled)
        # A number with thousands of digits raises a plain ValueError.
        except (ValueError, RecursionError) as e:
            # Without the line number inside the text, which is always 1.
            cause = (
                f'{e.msg}, column {e.pos + 1}' if isinstance(e, JSONDecodeError) else e
            )
            problem = f'is not JSON ({cause}). Write one JSON object a line.'
            flaw = Flaw.TOO_DEEP if isinstance(e, RecursionError) else None
            yield Line(number, None, problem, (), flaw)


def _find_jq_filter(line: str) -> str:
    """
    The jq filter that converts a document to lines, judged by its first line; empty if
    that line is a record.
    """
    text = line.strip()
    if text == '{':
        return '.'
    if not text.startswith('['):
        return ''
    try:
        value, _ = read_json(text)
    except (ValueError, RecursionError):
        return '.[]' if text in ('[', '[{') or text.startswith('[{') else ''
    return '.[]' if value and all(isinstance(item, dict) for item in value) else ''


def _read_json_lines(stream: TextIO) -> Iterator[Line]:
    """Records, or a ParlAI world log if the first line is a conversation."""
    before = []
    for line in stream:
        before.append(line)
        if line.strip():
            break
    # Line numbers continue.
    all_lines = chain(before, stream)
    return (_read_world_logs if _is_log(before) else json_objects)(all_lines)


def _is_log(lines: list[str]) -> bool:
    try:
        value, _ = read_json(lines[-1]) if lines else (None, ())
    except (ValueError, RecursionError):
        return False
    return is_conversation(value)


def is_conversation(value: object) -> bool:
    """
    Whether a line's value is a conversation of a world log, and not a record with a
    field ``dialog`` of its own.
    """
    return (
        isinstance(value, dict)
        and isinstance(value.get('dialog'), list)
        and not value.keys() & {'response', 'candidates', 'kind'}
    )


def json_objects(stream: Iterable[str]) -> Iterator[Line]:
    """The lines that are not blank; the value of a bad one is empty."""
    for line in json_lines(stream):
        problem = line.problem
        if problem is None and not isinstance(line.value, dict):
            kind = type(line.value).__name__
            problem = f'is a JSON {kind}, not an object with fields.'
        fields = line.value if isinstance(line.value, dict) else {}
        yield line._replace(value=fields, problem=problem)


def _find_delimiter(header: str) -> str:
    """The separator of a CSV file: in many countries Excel writes ";"."""
    names = {}
    for mark in ',;\t':
        names[mark] = {cell.strip('"\r\n ') for cell in header.split(mark)}
    marks = [mark for mark in names if 'response' in names[mark]]
    return max(marks or names, key=lambda mark: len(names[mark]))


class _Lines:
    """
    The lines of a table, from a first ``number``. If the current ``row`` turns out to
    be damaged, its lines except the first can be taken back.
    """

    def __init__(self, stream: Iterable[str]):
        # In some Python versions, the csv module stops at a null byte.
        self._stream = (line.replace('\0', '\ufffd') for line in stream)
        self._taken_back: deque[str] = deque()
        self.row: list[str] = []
        self.number = 1

    def __iter__(self) -> '_Lines':
        return self

    def __next__(self) -> str:
        if len(self.row) > MAX_ROW_LINES:
            raise csv.Error(TOO_MANY_LINES)
        line = self._taken_back.popleft() if self._taken_back else next(self._stream)
        self.row.append(line)
        return line

    def take_back(self, keep: int) -> None:
        """Keep only the first lines of this row; the others are read again."""
        self._taken_back.extendleft(reversed(self.row[keep:]))
        del self.row[keep:]

    def end_row(self) -> None:
        self.number += len(self.row)
        self.row = []


def _read_delimited(default: str | None) -> Callable[[TextIO], Iterator[Line]]:
    """Make a reader of tables with a separator; None finds it in the header."""

    def read(stream: TextIO) -> Iterator[Line]:
        csv.field_size_limit(CSV_FIELD_LIMIT)
        lines = _Lines(stream)
        first = next(lines, '')
        delimiter = default
        if separator := SEPARATOR.fullmatch(first.rstrip('\r\n')):
            delimiter = separator[1]
            lines.end_row()
            first = next(lines, '')
        delimiter = delimiter or _find_delimiter(first)
        lines.take_back(keep=0)
        dialect: dict[str, Any] = {
            'delimiter': delimiter,
            'skipinitialspace': f'{delimiter} ' in first,
            # Otherwise an open quote would silently swallow the rest of the file.
            'strict': True,
        }
        header: list[str] = []
        while True:
            row, problem = _read_row(lines, header, dialect)
            if not lines.row:
                return
            if not row and problem is None:  # a blank line
                pass
            elif header:
                yield Line(lines.number, dict(zip(header, row)), problem)
            else:
                header = [cell.strip() for cell in row]
                twice = next((n for n in ALIASES if header.count(n) > 1), None)
                header = _number_equal(header)
                if twice:
                    problem = problem or f'names {twice!r} twice. Rename one.'
                if problem:
                    problem = f'{problem} This is the header, so no row was read.'
                    yield Line(lines.number, {}, problem)
                    return
            lines.end_row()

    return read


def _number_equal(names: list[str]) -> list[str]:
    """Make the names of columns unique, except blank ones: ``note``, ``note.1``."""
    numbered: list[str] = []
    for name in names:
        number, unique = 0, name
        while name and unique in numbered:
            number += 1
            unique = f'{name}.{number}'
        numbered.append(unique)
    return numbered


def _read_row(
    lines: _Lines, header: list[str], dialect: dict[str, Any]
) -> tuple[list[str], str | None]:
    """Read the cells of the next row, and its problem."""
    try:
        cells = next(csv.reader(lines, **dialect), [])
    except csv.Error as e:
        lines.take_back(keep=1)
        return [], BAD_ROW.format(dialect['delimiter'], e)
    if not _is_utf8(''.join(cells)):
        return [], NOT_UTF8
    if header and len(cells) > len(header):
        # The later lines of a row may be rows that an open quote swallowed.
        lines.take_back(keep=1)
        return cells, TOO_MANY_CELLS.format(len(cells), len(header))
    return cells, None


def _read_world_logs(stream: Iterable[str]) -> Iterator[Line]:
    commands = 0
    for number, value, problem, nulled, flaw, _ in json_lines(stream):
        dialog = value.get('dialog') if isinstance(value, dict) else None
        if problem or not isinstance(dialog, list):
            yield Line(number, {}, problem or NO_DIALOG, (), flaw)
            continue
        for turn, fields in read_dialog(dialog):
            if fields is None:
                commands += 1
            else:
                fields = {'id': f'{number}.{turn}', **fields}
                yield Line(number, fields, None, nulled)
                # NaN is reported once, with the first turn of the conversation.
                nulled = ()
    if commands:
        _logger.warning(COMMANDS_SKIPPED.format(commands))


# The readers of text formats, by the words of ``Format``.
READERS: dict[str, Callable[[TextIO], Iterator[Line]]] = {
    Format.JSONL: _read_json_lines,
    # None: the header shows the separator
    Format.CSV: _read_delimited(None),
    Format.TSV: _read_delimited('\t'),
    Format.WORLD_LOGS: _read_world_logs,
}
