"""A table as data, and as text and JSON."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from parlai_q2.decimals import fixed
from parlai_q2.intervals import Interval

Cell = str | int | float | Interval | None
# The source of a row's numbers.
OURS, PAPER = 'here', 'paper'
WIDTH = 100
DASH, GAP = '-', '  '


@dataclass(frozen=True)
class Column:
    """
    One column: its name in rows and in JSON, and its heading.

    :param decimals: decimals printed of its numbers.
    :param scale: numbers are multiplied by this when printed; 100 for percentages.
    :param bounds: whether a number's interval is printed, or the number alone.
    :param repeated: whether the column identifies a row. Such a column is printed again
        in each part of a table that is split because it is too wide.
    """

    key: str
    head: str
    decimals: int = 3
    scale: float = 1.0
    bounds: bool = True
    repeated: bool = False

    def text(self, row: Mapping[str, Cell]) -> str:
        """The cell of a row: ``0.756 [0.715, 0.794]`` for a number with interval."""
        cell = row.get(self.key)
        if cell is None:
            return DASH
        if isinstance(cell, (str, int)):
            return str(cell)
        numbers = cell if isinstance(cell, Interval) else [cell]
        value, *ends = (fixed(n * self.scale, self.decimals) for n in numbers)
        return f'{value} [{", ".join(ends)}]' if ends and self.bounds else value


@dataclass(frozen=True)
class Table:
    """
    Rows and columns, with a title and notes.

    :param name: e.g. ``q2_wow_table_3``.
    :param rows: cells by column key; one that is missing or None is printed as a dash.
        A row's ``source``, :data:`OURS` or :data:`PAPER`, says whose numbers it has.
    :param notes: sentences below the table.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Cell], ...]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """The table as JSON-safe values, at full precision."""
        return {
            'name': self.name,
            'title': self.title,
            # JSON has shares where printed tables have percentages.
            'columns': {c.key: c.head.removesuffix(' %') for c in self.columns},
            'rows': [{k: _json(v) for k, v in row.items()} for row in self.rows],
            'notes': list(self.notes),
        }


def render_text(table: Table, width: int = WIDTH) -> str:
    """
    Render a table as plain text. One that is too wide is split into several, each of
    which repeats the columns that identify a row.
    """
    # For each column, its lines: the heading, a rule and the cells, equally wide.
    repeated: list[list[str]] = []
    value_columns: list[list[str]] = []
    last = [column for column in table.columns if column.repeated][-1]
    for column in table.columns:
        cells = [column.text(row) for row in table.rows]
        if column is last:
            papers = [row.get('source') == PAPER for row in table.rows]
            cells = [c + f' ({PAPER})' * p for c, p in zip(cells, papers, strict=True)]
        size = max(map(len, [column.head, *cells]))
        lines = [column.head, '-' * size, *cells]
        if column.repeated:
            repeated.append([line.ljust(size) for line in lines])
        else:
            value_columns.append([line.rjust(size) for line in lines])
    parts = [[*repeated]]
    for lines in value_columns:
        used = sum(len(part[0]) + len(GAP) for part in parts[-1])
        if used + len(lines[0]) > width and len(parts[-1]) > len(repeated):
            parts.append([*repeated])
        parts[-1].append(lines)
    text = [*textwrap.wrap(table.title, width), '']
    for part in parts:
        text += [GAP.join(line).rstrip() for line in zip(*part, strict=True)] + ['']
    for note in table.notes:
        text += textwrap.wrap(note, width)
    return '\n'.join(text).rstrip() + '\n'


def _json(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return {'value': cell.mean, 'low': cell.low, 'high': cell.high}
    return cell
