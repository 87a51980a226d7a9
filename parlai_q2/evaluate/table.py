"""
A table as data, independent of how it is printed.
"""

from dataclasses import dataclass, field
from typing import Any, Mapping, Union

from parlai_q2.bootstrap import Interval

Cell = Union[str, int, float, Interval, None]
OURS, PAPER = 'here', 'paper'
# Describes the intervals of all tables but the one at system level.
BRACKETS = (
    'Brackets: 95 % bootstrap interval; passages of knowledge are drawn, each with all '
    'its responses.'
)


@dataclass(frozen=True)
class Column:
    """
    One column.

    :param key: its name in rows and in JSON.
    :param head: its heading.
    :param decimals: decimals printed of its numbers.
    :param scale: numbers are multiplied by this when printed; 100 for percentages.
    :param bounds: whether a figure's interval is printed, or the figure alone.
    :param repeated: whether the column identifies a row. Such a column is printed again
        in each part of a table that is split because it is too wide.
    """

    key: str
    head: str
    decimals: int = 3
    scale: float = 1.0
    bounds: bool = True
    repeated: bool = False


@dataclass(frozen=True)
class Table:
    """
    Rows and columns, with a title and notes.

    :param name: e.g. ``q2_wow_table_3``, for labels and file names.
    :param title: one line.
    :param columns: the columns, in order.
    :param rows: cells by column key; one that is missing or None is printed as a dash.
        A row's ``source``, :data:`OURS` or :data:`PAPER`, says whose figures it has.
    :param notes: sentences below the table.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Cell], ...]
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """
        The table as JSON-safe values, at full precision.
        """
        return {
            'name': self.name,
            'title': self.title,
            # JSON has shares, where printed tables have percentages.
            'columns': {c.key: c.head.removesuffix(' %') for c in self.columns},
            'rows': [{k: json_cell(v) for k, v in row.items()} for row in self.rows],
            'notes': list(self.notes),
        }


def json_cell(cell: Cell) -> Any:
    """
    Convert a cell for JSON: an interval becomes ``value``, ``low`` and ``high``.
    """
    if isinstance(cell, Interval):
        return {'value': cell.mean, 'low': cell.low, 'high': cell.high}
    return cell


def row_name(row: Mapping[str, Cell], columns: tuple[Column, ...]) -> dict[str, str]:
    """
    The cells that identify a row; the last one marks a row of the paper.
    """
    keys = [c.key for c in columns if c.repeated]
    cells = {k: str(row.get(k) or '') for k in keys}
    if row.get('source') == PAPER:
        cells[keys[-1]] = f'{cells[keys[-1]]} ({PAPER})'.strip()
    return cells


def number(value: float, column: Column) -> str:
    """
    Format a number for its column.
    """
    return f'{value * column.scale:.{column.decimals}f}'


def key(name: str) -> Column:
    """
    A column that identifies a row.
    """
    return Column(name, name, repeated=True)
