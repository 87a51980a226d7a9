"""The papers' tables: a table as data, and as text and JSON."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.papers import cite, find_blocks, merge
from parlai_q2.intervals import Interval

Cell = str | int | float | Interval | None
OURS, PAPER = 'here', 'paper'
# Describes the intervals of all tables but the one at system level.
BRACKETS = (
    'Brackets: 95 % bootstrap interval; passages of knowledge are drawn, each with all '
    'its responses.'
)


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
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """The table as JSON-safe values, at full precision."""
        return {
            'name': self.name,
            'title': self.title,
            # JSON has shares, where printed tables have percentages.
            'columns': {c.key: c.head.removesuffix(' %') for c in self.columns},
            'rows': [{k: _json(v) for k, v in row.items()} for row in self.rows],
            'notes': list(self.notes),
        }


class Rows(list[dict[str, Cell]]):
    """
    Rows that some columns identify.

    :param keys: the names of these columns.
    """

    def __init__(self, *keys: str):
        super().__init__()
        self.keys = keys

    def ours(self, /, *names: str, **cells: Cell) -> None:
        """Add a row of our numbers, with its cells in the identifying columns."""
        named = dict(zip(self.keys, names, strict=True))
        self.append({**named, 'source': OURS, **cells})

    def table(
        self,
        evaluation: Evaluation,
        name: str,
        what: str,
        columns: Sequence[Column],
        notes: Sequence[str] = (),
    ) -> Table | None:
        """
        The table of the rows, and of what papers have in their place; None if there are
        neither.

        :param name: its name, without that of the set.
        :param what: its title, without that of the set.
        :param columns: those beside the identifying ones.
        """
        annotated = evaluation.annotated
        blocks = find_blocks(annotated.paper, name)
        rows, more_notes = merge(self, blocks, self.keys)
        if not rows:
            return None
        cited = cite(annotated.paper, name)
        return Table(
            f'{annotated.name}_{name}',
            f'{what}, {annotated.title}{f" ({cited})" if cited else ""}',
            (*(Column(key, key, repeated=True) for key in self.keys), *columns),
            tuple({'source': PAPER, **row} for row in rows),
            (*notes, *more_notes),
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
    # For each column, its lines: the heading, a rule and the cells, equally wide.
    repeated: list[list[str]] = []
    value_columns: list[list[str]] = []
    last = [column for column in table.columns if column.repeated][-1]
    for column in table.columns:
        cells = [text_cell(row.get(column.key), column) for row in table.rows]
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


def text_cell(cell: Cell, column: Column) -> str:
    """Render one cell: ``0.756 [.715, .794]`` for a number with its interval."""
    if cell is None:
        return DASH
    if isinstance(cell, (str, int)):
        return str(cell)
    number = cell if isinstance(cell, Interval) else Interval(cell, cell, cell)
    value, low, high = (f'{n * column.scale:.{column.decimals}f}' for n in number)
    if cell is number and column.bounds:
        return f'{value} [{_short(low)}, {_short(high)}]'
    return value


def _short(text: str) -> str:
    # A bound is nearly always a share, so its leading zero says nothing, nor do the
    # decimals of 1.
    sign, digits = ('-', text[1:]) if text.startswith('-') else ('', text)
    if digits.startswith('0.'):
        return sign + digits[1:]
    return sign + '1.0' if digits.startswith('1.') and float(digits) == 1 else text


def _json(cell: Cell) -> Any:
    if isinstance(cell, Interval):
        return {'value': cell.mean, 'low': cell.low, 'high': cell.high}
    return cell
