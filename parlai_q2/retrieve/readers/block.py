"""What readers make of a document: its text in blocks, each with its place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from parlai_q2.turns import Span, without_surrogates

# Control characters mean nothing in a text and much to a terminal; line breaks and tabs
# are kept.
_CONTROL = re.compile('[\x00-\x08\x0b-\x1f\x7f-\x9f]')
# Between the cells of a row, and a column's name before a cell.
_BETWEEN = ' | '
_NAME = re.compile(r'[^\s:|][^:|\n]{0,39}: ')


@dataclass(frozen=True)
class Block:
    """
    A paragraph, list, table row or page.

    :param title: the document's title; empty if it has none.
    :param heading: the headings above it, the outermost first, with ``>`` between.
    :param unit: what ``first`` and ``last`` count, e.g. ``line`` or ``page``; or, with
        both 0, the place itself, e.g. an address.
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
    A text without control characters and lone surrogates, line breaks unified.

    >>> clean('red\\x1b[31m ink\\r\\n')
    'red [31m ink\\n'
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace('\r\n', '\n').replace('\r', '\n').replace('\f', '\n')
    return without_surrogates(_CONTROL.sub(' ', text))


def headings(levels: dict[int, str]) -> str:
    """
    The headings that are open, as one line.

    >>> headings({1: 'Manual', 2: 'Install'})
    'Manual > Install'
    """
    return ' > '.join(levels[level] for level in sorted(levels))


def open_heading(levels: dict[int, str], level: int, text: str) -> dict[int, str]:
    """The headings that are open after another: deeper ones are closed."""
    kept = {n: name for n, name in levels.items() if n < level}
    return {**kept, level: ' '.join(text.split())} if text.strip() else kept


def named_cells(columns: Sequence[str], row: Sequence[str]) -> str:
    """
    A row of a table as a text.

    >>> named_cells(['part', '', 'price'], ['hose', 'red', '4'])
    'part: hose | red | price: 4'
    """
    pairs = zip_longest(columns, row, fillvalue='')
    return _BETWEEN.join(
        f'{name}: {cell}' if name else cell for name, cell in pairs if cell
    )


def cells_of(text: str) -> list[Span]:
    """
    The cells of a row that :func:`named_cells` made, without their columns' names and
    none of them blank; empty if the text is no such row.

    >>> [one.text for one in cells_of('part: hose | price: 4 euros')]
    ['hose', '4 euros']
    """
    cells, start = list[Span](), 0
    named = False
    for part in text.split(_BETWEEN):
        name = _NAME.match(part)
        named = named or name is not None
        first = start + (name.end() if name else 0)
        cell = Span(text[first : start + len(part)], first, start + len(part))
        if cell.text.strip():  # else a form's, "Name:  | Date: ", to be filled in
            cells.append(cell)
        start += len(part) + len(_BETWEEN)
    return cells if named and len(cells) > 1 else []
