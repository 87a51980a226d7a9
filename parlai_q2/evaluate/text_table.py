"""
Tables for a terminal, at most 100 columns wide.
"""

import textwrap
from typing import Sequence

from parlai_q2.bootstrap import Interval
from parlai_q2.evaluate.table import Cell, Column, Table, number, row_name

WIDTH = 100
DASH = '-'
GAP = '  '


def render_text(table: Table, width: int = WIDTH) -> str:
    """
    Render a table as plain text.

    :param table: the table.
    :param width: columns of the terminal. A wider table is split into several, each of
        which repeats the columns that identify a row.
    :return: text that ends with a line break.
    """
    rows = [{**row, **row_name(row, table.columns)} for row in table.rows]
    cells = {
        column.key: [text_cell(row.get(column.key), column) for row in rows]
        for column in table.columns
    }
    widths = {
        column.key: max([len(column.head), *map(len, cells[column.key])])
        for column in table.columns
    }
    lines = [*textwrap.wrap(table.title, width), '']
    for part in _parts(table.columns, widths, width):
        lines.append(_line([c.head for c in part], part, widths))
        lines.append(GAP.join('-' * widths[c.key] for c in part))
        for i in range(len(table.rows)):
            lines.append(_line([cells[c.key][i] for c in part], part, widths))
        lines.append('')
    for note in table.notes:
        lines += textwrap.wrap(note, width)
    return '\n'.join(lines).rstrip() + '\n'


def text_cell(cell: Cell, column: Column) -> str:
    """
    Render one cell: ``0.756 [.715, .794]`` for a figure with its interval.
    """
    if cell is None:
        return DASH
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Interval):
        value = number(cell.mean, column)
        if not column.bounds:
            return value
        low, high = (_short(number(b, column)) for b in (cell.low, cell.high))
        return f'{value} [{low}, {high}]'
    return str(cell) if isinstance(cell, int) else number(cell, column)


def _short(text: str) -> str:
    # A bound is nearly always a share, so its leading zero says nothing, nor do the
    # decimals of 1.
    sign, digits = ('-', text[1:]) if text.startswith('-') else ('', text)
    if digits.startswith('0.'):
        return sign + digits[1:]
    return sign + '1.0' if digits.startswith('1.') and float(digits) == 1 else text


def _line(cells: Sequence[str], columns: Sequence[Column], widths: dict) -> str:
    # Columns that identify a row are left-aligned, numbers right-aligned.
    fields = [
        cell.ljust(widths[c.key]) if c.repeated else cell.rjust(widths[c.key])
        for cell, c in zip(cells, columns, strict=True)
    ]
    return GAP.join(fields).rstrip()


def _parts(
    columns: Sequence[Column], widths: dict[str, int], width: int
) -> list[list[Column]]:
    repeated = [c for c in columns if c.repeated]
    parts: list[list[Column]] = [list(repeated)]
    for column in (c for c in columns if not c.repeated):
        used = sum(widths[c.key] + len(GAP) for c in parts[-1])
        if used + widths[column.key] > width and len(parts[-1]) > len(repeated):
            parts.append(list(repeated))
        parts[-1].append(column)
    return parts
