"""The result of reading a document: its text in blocks, each with its place."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from parlai_q2.turns import Span, without_surrogates

# Control characters, which a text does not need but a terminal would obey; line breaks
# and tabs are kept.
_CONTROL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f]')
CELL_SEPARATOR = ' | '
_COLUMN_NAME = re.compile(r'[^\s:|][^:|\n]{0,39}: ')


@dataclass(frozen=True)
class Block:
    """
    A paragraph, list item, table row or listing of a document.

    :param title: the document's title; empty if it has none.
    :param heading: the headings above it, the outermost first, with ``>`` between.
    :param unit: the unit of ``first`` and ``last``, e.g. ``line`` or ``page``; or, if
        both are 0, the place itself, e.g. an address.
    :param alone: whether it shares no passage with its neighbours.
    :param code: whether its lines are code.
    """

    text: str
    title: str = ''
    heading: str = ''
    unit: str = ''
    first: int = 0
    last: int = 0
    alone: bool = False
    code: bool = False


def clean(text: str) -> str:
    """
    Remove control characters and lone surrogates, and unify line breaks.

    >>> clean('red\\x1b[31m ink\\r\\n')
    'red [31m ink\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace('\r\n', '\n').replace('\r', '\n').replace('\f', '\n')
    return without_surrogates(_CONTROL.sub(' ', text))


def heading_path(levels: Mapping[int, str]) -> str:
    """The open headings in one line: "Manual > Install"."""
    return ' > '.join(levels[level] for level in sorted(levels))


def open_heading(levels: Mapping[int, str], level: int, text: str) -> dict[int, str]:
    """Close the headings from a level down, and open one there unless it is blank."""
    above = {n: name for n, name in levels.items() if n < level}
    return {**above, level: ' '.join(text.split())} if text.strip() else above


def join_cells(columns: Sequence[str], row: Sequence[str]) -> str:
    """Write a row of a table as a text: "part: hose | red | price: 4"."""
    pairs = zip_longest(columns, row, fillvalue='')
    return CELL_SEPARATOR.join(
        f'{name}: {cell}' if name else cell for name, cell in pairs if cell
    )


def find_cells(text: str) -> list[Span]:
    """
    Find the cells of a row that :func:`join_cells` wrote, without their columns' names.

    :return: the cells that are not blank; empty if the text is no such row.

    >>> [cell.text for cell in find_cells('part: hose | price: 4 euros')]
    ['hose', '4 euros']
    """
    cells, start = list[Span](), 0
    has_names = False
    for part in text.split(CELL_SEPARATOR):
        name = _COLUMN_NAME.match(part)
        has_names = has_names or name is not None
        first = start + (name.end() if name else 0)
        cell = Span(text[first : start + len(part)], first, start + len(part))
        if cell.text.strip():  # otherwise it is a blank form: "Name: | Date: "
            cells.append(cell)
        start += len(part) + len(CELL_SEPARATOR)
    return cells if has_names and len(cells) > 1 else []
