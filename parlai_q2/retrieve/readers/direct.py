"""
Reads text files, rows of CSV and lines of JSON, line by line.

Text files have paragraphs with blank lines between them, under their headings. A
heading is underlined, as in reStructuredText, or a short line by itself without an end
mark, before a paragraph that is longer, or any such line before a table.

Each row or line of JSON is a document of its own, with the fields ``title``, ``text``
and ``url``. A question with its answer, as FAQs have them, is read as the answer under
that heading. Any other row of CSV is read as all its cells with their columns' names; a
line of JSON is left out, as files of JSON lines are data more often than documents.
"""

import logging
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path

from parlai_q2.errors import DocumentError
from parlai_q2.io.formats import READERS, open_text
from parlai_q2.retrieve.readers.block import (
    Block,
    clean,
    heading_path,
    join_cells,
    open_heading,
)

_logger = logging.getLogger(__name__)
# A paragraph that ends like this introduces the next one: "How long is it?"
_INTRODUCES = ('?', ':')
# Lines that editors wrap are longer than this.
SHORTEST_WRAPPED = 40
_ENDS = ('.', '!', '?', ':', ';')
_ITEM = re.compile(r'[-*+•|]|\(?\w{1,3}[.)]\s')
# Cells of a table that is set with spaces.
_COLUMNS = re.compile(r'\S\s{2,}\S')
_UNDERLINE = re.compile(r'([-=~^"#*+_])\1{2,}')
MAX_HEADING_WORDS = 8
# The level of such headings, below all underlined ones.
LOWEST = 99
# The maximum number of left-out lines to name.
MAX_NAMED = 5
# Columns of a FAQ, in the languages that the authors read.
_QUESTION = frozenset('question q frage pregunta domanda'.split())
_ANSWER = frozenset('answer a antwort réponse reponse respuesta risposta'.split())
NO_UTF8 = 'it is not UTF-8 text. Convert it, e.g. iconv -f latin1 -t UTF-8'


def read_utf8(path: Path) -> str:
    """
    Read the text of a file.

    :raises DocumentError: if it is not UTF-8, or not text.
    """
    with open_text(path) as stream:
        text = stream.read()
    if '\0' in text:
        raise DocumentError(path, 'it is not text: it has null bytes')
    try:
        text.encode('utf-8')
    except UnicodeEncodeError:
        raise DocumentError(path, NO_UTF8) from None
    return clean(text)


def read_text(path: Path) -> Iterator[Block]:
    """Read a block for each paragraph; a question goes with the paragraph after it."""
    levels: dict[int, str] = {}
    marks: list[str] = []
    paragraphs = [*_paragraphs(read_utf8(path).split('\n'))]
    for (first, last, lines), after in zip_longest(paragraphs, paragraphs[1:]):
        mark, heading, count = _find_underline(lines)
        if mark:
            marks += [] if mark in marks else [mark]
            levels = open_heading(levels, marks.index(mark), heading)
        elif after is not None and _is_heading(lines, after[2]):
            levels, count = open_heading(levels, LOWEST, lines[0]), 1
        if lines[count:]:
            yield Block(
                unwrap(lines[count:]),
                heading=heading_path(levels),
                unit='line',
                first=first + count,
                last=last,
                alone=True,
            )


def _paragraphs(lines: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """Yield the numbers of each paragraph's first and last line, and its lines."""
    paragraph = list[str]()
    first = last = 0
    for number, line in enumerate([*lines, ''], 1):
        if line.strip():
            first, last = first or number, number
            paragraph.append(line.strip())
        elif paragraph and (
            number > len(lines) or not paragraph[-1].endswith(_INTRODUCES)
        ):
            yield first, last, paragraph
            paragraph, first = [], 0


def _find_underline(lines: Sequence[str]) -> tuple[str, str, int]:
    """
    Find an underlined heading at the beginning of a paragraph: the underline's
    character, the heading, and the number of lines that both take.
    """
    over = len(lines) > 2 and lines[0] == lines[2]
    heading, *below = lines[1:] if over else lines
    if (
        below
        and (line := _UNDERLINE.fullmatch(below[0]))
        and not _UNDERLINE.fullmatch(heading)
        and 2 * len(below[0]) >= len(heading)
    ):
        return 2 * line[1] if over else line[1], heading, 2 + over
    return '', '', 0


def _is_heading(lines: Sequence[str], after: Sequence[str]) -> bool:
    line, words = lines[0], len(lines[0].split())
    if len(lines) > 1 or not (line[0].isupper() or line[0].isdigit()):
        return False
    if 2 * sum(bool(_COLUMNS.search(row)) for row in after) > len(after):
        return line[-1] not in _ENDS and not _COLUMNS.search(line)
    longer = len(' '.join(after).split()) > MAX_HEADING_WORDS
    return words <= MAX_HEADING_WORDS and line[-1].isalnum() and longer


def unwrap(lines: Sequence[str]) -> str:
    """
    Join lines to one text, without the breaks that only wrap it: those after a long
    line that ends no sentence, before a line that is no item of a list.
    """
    text = lines[0]
    for before, line in pairwise(lines):
        ends = len(before) < SHORTEST_WRAPPED or before.endswith(_ENDS)
        text += '\n' if ends or _ITEM.match(line) or _COLUMNS.search(before) else ' '
        text += line
    return text


def read_table(path: Path, format: str) -> Iterator[Block]:
    """
    Read a block for each row, or line of JSON, that has a text.

    :param format: one of :data:`~parlai_q2.io.formats.READERS`.
    """
    is_json = format == 'jsonl'
    lacks = 'has no "text".' if is_json else 'has no text.'
    expected = '"text", or "question" and "answer"' if is_json else 'a text'
    good = bad = 0
    named: list[str] = []
    with open_text(path) as stream:
        for number, fields, problem, *_ in READERS[format](stream):
            block = None if problem else _read_row(fields, number, not is_json)
            if block is not None:
                good += 1
                yield block
                continue
            bad += 1
            if bad <= MAX_NAMED:
                named.append(f'line {number}: {problem or lacks} Left out.')
    if bad and not good:
        raise DocumentError(path, f'none of its lines has {expected}')
    for problem in named:
        _logger.warning(f'{path}, {problem}')
    if bad > MAX_NAMED:
        _logger.warning(f'{path}: {bad - MAX_NAMED} further lines were left out.')


def _read_row(fields: Mapping[str, object], number: int, any_row: bool) -> Block | None:
    """
    Read a row as a block; None if it has no text.

    :param any_row: whether a row without text or answer is read, too.
    """
    cells = {
        name if _field_name(name) in fields else _field_name(name): _cell(value)
        for name, value in fields.items()
    }
    url, heading, text = cells.get('url', ''), '', ''
    question, answer = _column(cells, _QUESTION), _column(cells, _ANSWER)
    other_columns = [name for name in cells if name not in ('title', 'url')]
    if 'text' in cells:
        text = cells['text']
    elif question is not None and answer is not None:
        heading = ' '.join(cells[question].split())
        other_columns = [
            name for name in other_columns if name not in (question, answer)
        ]
        if text := cells[answer]:
            other_cells = [cells[name] for name in other_columns] if any_row else []
            text = join_cells(['', *other_columns], [text, *other_cells])
    elif any_row:
        names = other_columns if len(cells) > 1 else ['']
        text = join_cells(names, [cells[name] for name in other_columns])
    if not text:
        return None
    place = (url, 0, 0) if url else ('line', number, number)
    return Block(text, ' '.join(cells.get('title', '').split()), heading, *place, True)


def _field_name(name: str) -> str:
    plain = name.strip().casefold()
    return plain if plain in ('title', 'text', 'url') else name


def _column(cells: Mapping[str, str], names: Container[str]) -> str | None:
    return next((name for name in cells if name.strip().casefold() in names), None)


def _cell(value: object) -> str:
    """A value as a text; empty for other types."""
    return clean(str(value)).strip() if isinstance(value, (str, int, float)) else ''
