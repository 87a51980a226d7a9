"""
The formats of files of records, and readers of those that are text: JSON lines, csv,
tsv and ParlAI world logs. Each gives what stands on a line, or what is wrong with it.
"""

import csv
import logging
import re
from io import BufferedReader, TextIOWrapper
from itertools import chain, islice
from typing import Any, Callable, Iterable, Iterator, NamedTuple, Optional, TextIO, cast

from parlai_q2.enums import Word
from parlai_q2.errors import Flaw, InputError
from parlai_q2.io.fields import ALIKE
from parlai_q2.io.files import reason
from parlai_q2.io.locations import Location
from parlai_q2.io.parquet import ENDINGS
from parlai_q2.io.strict_json import read_json
from parlai_q2.io.world_logs import LEFT_OUT, turns_of

# A csv cell may hold a long passage; Python's default limit is 128 kB.
CSV_FIELD_LIMIT = 16 * 1024 * 1024
# The most lines that a cell may span; a longer cell means that a quote was left open.
CELL_LINES = 100

# The first bytes of files that are no text. UTF-32 must come before UTF-16, because
# its mark begins with that of UTF-16.
NO_TEXT = {
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
        'Unpack it, or save the sheet as csv in UTF-8.',
    ),
    b'PAR1': ('a Parquet file', 'Name it .parquet.'),
    b'%PDF': ('a PDF', 'Give its text.'),
}
NO_DIALOG = 'has no "dialog" list; is it a ParlAI world log?'
NOT_UTF8 = 'is not UTF-8. Convert the file, e.g. iconv -f latin1 -t UTF-8.'
QUOTES = 'Close every quote, and double the quotes inside a quoted cell.'
LINE_END = re.compile('\r\n?|\n')
# How Excel names the separator, on a line before the header.
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)
ONE_DOCUMENT = (
    'begins a JSON document over the whole file, and records are read one a line. '
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


FORMAT_OF = {
    **dict.fromkeys(('.jsonl', '.json', '.ndjson'), Format.JSONL),
    '.csv': Format.CSV,
    '.tsv': Format.TSV,
    **{f'.{ending}': Format.PARQUET for ending in ENDINGS},
}
WORKBOOKS = ('.xlsx', '.xlsm', '.xls', '.ods')
# The endings of files of records.
FILES = tuple(FORMAT_OF)


class Line(NamedTuple):
    """
    A line of a file, as a reader understands it: its number, from 1, what it holds (a
    record's fields, or any JSON), what is wrong with it, ``nulled`` as for
    :class:`Record`, and what is wrong beyond it.
    """

    number: int
    value: Any
    problem: Optional[str]
    nulled: tuple[str, ...] = ()
    flaw: Optional[Flaw] = None


def open_text(path: Location) -> TextIO:
    """
    Open a file as UTF-8 text. Invalid bytes become lone surrogates, so that the readers
    can report the record that has them and still read the others.

    :raises InputError: if the file cannot be read, or begins as no UTF-8.
    """
    try:
        file = cast(BufferedReader, path.open('rb'))
        # peek, not read: it consumes nothing, which matters for a pipe.
        begins = file.peek(4)
    except OSError as e:
        raise InputError(
            f'Cannot read {path}: {reason(e)}. Check that the file exists and '
            'that you may read it.'
        ) from e
    for mark, (kind, remedy) in NO_TEXT.items():
        if begins.startswith(mark):
            file.close()
            raise InputError(f'{path} is {kind}, not UTF-8 text. {remedy}')
    return TextIOWrapper(file, 'utf-8-sig', errors='surrogateescape', newline='')


def format_of(path: Location) -> Format:
    """The format of a file, from its extension, which must be a known one."""
    format = FORMAT_OF.get(path.suffix.lower())
    if format is not None:
        return format
    if path.suffix.lower() in WORKBOOKS:
        raise InputError(f'{path.name} is a workbook. Save its sheet as csv in UTF-8.')
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
        if first and (converting := _converting(line)):
            problem = ONE_DOCUMENT.format(converting)
            yield Line(number, None, problem, (), Flaw.ENDS_FILE)
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
            problem = f'is not JSON ({e}). Write one JSON object a line.'
            flaw = Flaw.TOO_DEEP if isinstance(e, RecursionError) else None
            yield Line(number, None, problem, (), flaw)


def _converting(line: str) -> str:
    """
    The jq filter that makes lines of a document, by its first line; empty for a line
    that is a record.
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
    return '.[]' if value and all(isinstance(one, dict) for one in value) else ''


def _read_json(stream: TextIO) -> Iterator[Line]:
    """Records, or a ParlAI world log if the first line is a conversation."""
    before = []
    for line in stream:
        before.append(line)
        if line.strip():
            break
    # The numbers of lines go on counting.
    all_lines = chain(before, stream)
    return (_read_world_logs if _is_log(before) else json_objects)(all_lines)


def _is_log(lines: list[str]) -> bool:
    try:
        value, _ = read_json(lines[-1]) if lines else (None, ())
    except (ValueError, RecursionError):
        return False
    return (
        isinstance(value, dict)
        and isinstance(value.get('dialog'), list)
        and 'response' not in value
    )


def json_objects(stream: Iterable[str]) -> Iterator[Line]:
    """The lines that are not blank; the value of a bad one is empty."""
    for number, value, problem, nulled, flaw in json_lines(stream):
        if problem is None and not isinstance(value, dict):
            problem = f'is a JSON {type(value).__name__}, not an object with fields.'
        fields = value if isinstance(value, dict) else {}
        yield Line(number, fields, problem, nulled, flaw)


def _delimiter_of(header: str) -> str:
    """What separates the cells of a csv file: in many countries Excel writes ";"."""
    found = {
        mark: {cell.strip('"\r\n ') for cell in header.split(mark)} for mark in ',;\t'
    }
    known = [mark for mark in found if 'response' in found[mark]]
    return max(known or found, key=lambda mark: len(found[mark]))


def _read_delimited(given: Optional[str]) -> Callable[[TextIO], Iterator[Line]]:
    def read(stream: TextIO) -> Iterator[Line]:
        csv.field_size_limit(CSV_FIELD_LIMIT)
        # In some Python versions, the csv module stops at a null byte.
        lines: Iterator[str] = (line.replace('\0', '\ufffd') for line in stream)
        head = ''.join(islice(lines, 1))
        said = SEPARATOR.fullmatch(head.rstrip('\r\n'))
        if said:
            head = ''.join(islice(lines, 1))
        delimiter = said[1] if said else given or _delimiter_of(head)
        rows = csv.reader(
            chain([head], lines),
            delimiter=delimiter,
            skipinitialspace=f'{delimiter} ' in head,
            # Else an open quote would silently swallow the rest of the file.
            strict=True,
        )
        header: list[str] = []
        while True:
            start = rows.line_num + 1 + bool(said)
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as e:
                problem = (
                    f'cannot be read as {delimiter!r}-separated ({e}). {QUOTES} The '
                    'rows after it were not read.'
                )
                yield Line(start, {}, problem, (), Flaw.ENDS_FILE)
                return
            # A blank line gives an empty row.
            if not row:
                continue
            damage = _damage(row, start, rows.line_num + bool(said))
            if header:
                yield Line(start, *_fields(header, row, damage))
                continue
            header = [cell.strip() for cell in row]
            twice = next((n for n in ALIKE if header.count(n) > 1), None)
            if twice:
                damage = damage or f'names {twice!r} twice. Rename one.'
            if damage:
                problem = f'{damage} This is the header, so no row was read.'
                yield Line(start, {}, problem)
                return

    return read


def _damage(row: list[str], start: int, end: int) -> Optional[str]:
    if not _is_utf8(''.join(row)):
        return NOT_UTF8
    if end - start < CELL_LINES:
        return None
    lines = max(len(LINE_END.findall(cell)) + 1 for cell in row)
    if lines <= CELL_LINES:
        return None
    return (
        f'has a cell of {lines} lines, up to line {end}, so a quote was left '
        f'open. {QUOTES} The rows up to there were not read. If a text really has '
        f'more than {CELL_LINES} lines, give it as JSON lines.'
    )


def _fields(
    header: list[str], row: list[str], damage: Optional[str]
) -> tuple[dict[str, Any], Optional[str]]:
    if damage is not None:
        return {}, damage
    problem = None
    if len(row) > len(header):
        problem = (
            f'has {len(row)} columns, but the header has {len(header)}. Quote '
            'texts that contain the separator.'
        )
    return dict(zip(header, row)), problem


def _read_world_logs(stream: Iterable[str]) -> Iterator[Line]:
    commands = 0
    for number, value, problem, nulled, flaw in json_lines(stream):
        dialog = value.get('dialog') if isinstance(value, dict) else None
        if problem or not isinstance(dialog, list):
            yield Line(number, {}, problem or NO_DIALOG, (), flaw)
            continue
        for turn, fields in turns_of(dialog):
            if fields is None:
                commands += 1
            else:
                fields = {'id': f'{number}.{turn}', **fields}
                yield Line(number, fields, None, nulled)
                # Named once, with the first turn of the conversation.
                nulled = ()
    if commands:
        _logger.warning(LEFT_OUT.format(commands))


# Of text; keyed by words, which are equal to their texts.
READERS: dict[str, Callable[[TextIO], Iterator[Line]]] = {
    Format.JSONL: _read_json,
    # None: told by the header.
    Format.CSV: _read_delimited(None),
    Format.TSV: _read_delimited('\t'),
    Format.WORLD_LOGS: _read_world_logs,
}
