"""The papers' tables: a table as data, and as text and JSON."""

import textwrap
from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Sequence, Union

from parlai_q2.bootstrap import Interval
from parlai_q2.evaluate.evaluation import Evaluation

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
        """The table as JSON-safe values, at full precision."""
        return {
            'name': self.name,
            'title': self.title,
            # JSON has shares, where printed tables have percentages.
            'columns': {c.key: c.head.removesuffix(' %') for c in self.columns},
            'rows': [{k: json_cell(v) for k, v in row.items()} for row in self.rows],
            'notes': list(self.notes),
        }


def json_cell(cell: Cell) -> Any:
    """Convert a cell for JSON: an interval becomes ``value``, ``low`` and ``high``."""
    if isinstance(cell, Interval):
        return {'value': cell.mean, 'low': cell.low, 'high': cell.high}
    return cell


def row_name(row: Mapping[str, Cell], columns: tuple[Column, ...]) -> dict[str, str]:
    """The cells that identify a row; the last one marks a row of the paper."""
    keys = [c.key for c in columns if c.repeated]
    cells = {k: str(row.get(k) or '') for k in keys}
    if row.get('source') == PAPER:
        cells[keys[-1]] = f'{cells[keys[-1]]} ({PAPER})'.strip()
    return cells


def number(value: float, column: Column) -> str:
    """Format a number for its column."""
    return f'{value * column.scale:.{column.decimals}f}'


class Rows(list[dict[str, Cell]]):
    """
    Rows that some columns identify.

    :param keys: the names of these columns.
    """

    def __init__(self, *keys: str):
        super().__init__()
        self.keys = keys

    def ours(self, /, *names: str, **cells: Cell) -> None:
        """Add a row of our figures, with its cells in the identifying columns."""
        self._add(OURS, names, cells)

    def paper(self, /, *names: str, **cells: Cell) -> None:
        """Add a row that is copied from a paper."""
        self._add(PAPER, names, cells)

    def _add(self, source: str, names: Sequence[str], cells: Mapping[str, Cell]):
        named = dict(zip(self.keys, names, strict=True))
        self.append({**named, 'source': source, **cells})

    def table(
        self,
        evaluation: Evaluation,
        name: str,
        what: str,
        columns: Sequence[Column],
        *notes: str,
        cited: str = '',
    ) -> Optional[Table]:
        """
        The table of the rows; None if there are none.

        :param name: its name, without that of the set.
        :param what: its title, without that of the set.
        :param columns: those beside the identifying ones.
        :param cited: the table of the Q2 paper that it is on the paper's own data.
        """
        if not self:
            return None
        return Table(
            f'{evaluation.annotated.name}_{name}',
            evaluation.title(what, cited),
            (*(Column(key, key, repeated=True) for key in self.keys), *columns),
            tuple(self),
            notes,
        )


WIDTH = 100
DASH = '-'
GAP = '  '


def render_text(table: Table, width: int = WIDTH) -> str:
    """
    Render a table as plain text.

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
    """Render one cell: ``0.756 [.715, .794]`` for a figure with its interval."""
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
