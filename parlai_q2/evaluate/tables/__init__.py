"""
The papers' tables: builders make rows of an evaluation, ``layouts.yaml`` has titles,
columns and notes, and a YAML file for each paper has its numbers, which tables print
beside our own and never instead of them.

A paper has blocks of rows. A block has the ``table`` that it belongs to; the ``sets``
whose tables show it, as patterns for their names, without ``exceptions``; its ``keys``
and ``cells``, which name the values of each row in this order; and a ``place``:

- ``after``: each row follows the last of our rows with the same keys, if there is one,
  and if that has the cell that the block ``needs``;
- ``end``: all follow our rows, if there are any;
- ``always``: at the end, with or without our rows;
- ``own``: the table's builder places them.

A ``note`` is printed below a table that shows the block, and ``cite`` is cited in its
title.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any

import yaml

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.intervals import Interval
from parlai_q2.tables import OURS, PAPER, Cell, Column, Table

PAPERS = ('q2', 'begin', 'rome')
Row = dict[str, Any]


@dataclass(frozen=True)
class PaperBlock:
    """Rows of a paper's table, as the module's text describes them."""

    table: str
    sets: Sequence[str]
    place: str
    keys: Sequence[str]
    cells: Sequence[str]
    rows: Sequence[Row]
    exceptions: Sequence[str] = ()
    needs: str = ''
    note: str = ''
    cite: str = ''

    def belongs_to(self, name: str, table: str) -> bool:
        """Whether a table shows the block, by the names of its set and of the table."""

        def fits(patterns: Sequence[str]) -> bool:
            return any(fnmatchcase(name, pattern) for pattern in patterns)

        return table == self.table and fits(self.sets) and not fits(self.exceptions)


def find_blocks(name: str, table: str) -> list[PaperBlock]:
    """The papers' blocks of a set's table (``table_3``), by the set's name."""
    return [block for block in _blocks() if block.belongs_to(name, table)]


def cite(name: str, table: str) -> str:
    """
    The citation in the title of a set's table: ``Q2, Table 3``; empty if there is none.
    """
    for paper in map(_load, PAPERS):
        cited = paper.get('cited', {})
        if name and name == cited.get('set') and table in cited:
            return f'{paper["paper"]}, {cited[table]}'
    return ''


def merge(
    rows: Sequence[Row], blocks: Sequence[PaperBlock]
) -> tuple[list[Row], list[PaperBlock]]:
    """Put a paper's rows among ours; return all, and the blocks that are shown."""
    merged: list[Row] = []
    shown_blocks: list[PaperBlock] = []

    def add(block: PaperBlock, additions: Sequence[Row]) -> None:
        merged.extend(additions)
        if additions and block not in shown_blocks:
            shown_blocks.append(block)

    followers = [block for block in blocks if block.place == 'after']
    for place, row in enumerate(rows):
        merged.append(row)
        for block in followers:
            keys = {key: row[key] for key in block.keys}.items()
            is_last = not any(keys <= later.items() for later in rows[place + 1 :])
            if is_last and (not block.needs or block.needs in row):
                add(block, [r for r in block.rows if keys <= r.items()])
    for block in blocks:
        if block.place == 'always' or (block.place == 'end' and rows):
            add(block, block.rows)
    return merged, shown_blocks


@cache
def _load(name: str) -> dict[str, Any]:
    text = files(__name__).joinpath(f'{name}.yaml').read_text(encoding='utf-8')
    contents: dict[str, Any] = yaml.safe_load(text)
    return contents


@cache
def _blocks() -> tuple[PaperBlock, ...]:
    blocks = []
    for fields in chain.from_iterable(_load(paper)['tables'] for paper in PAPERS):
        names = (*fields['keys'], *fields['cells'])
        rows = tuple(_row(names, values) for values in fields['rows'])
        blocks.append(PaperBlock(**{**fields, 'rows': rows}))
    return tuple(blocks)


def _row(names: Sequence[str], values: Sequence[object]) -> Row:
    return {
        name: Interval(*value) if isinstance(value, list) else value
        for name, value in zip(names, values, strict=True)
        if value is not None
    }


# In a layout's columns, the place of those that only the rows know.
DYNAMIC = '*'


class Rows(list[dict[str, Cell]]):
    """The rows of a table; its layout may name ``values`` in braces."""

    def __init__(self, evaluation: Evaluation, layout: str, **values: object):
        super().__init__()
        self.evaluation, self.values = evaluation, values
        self.layout = _load('layouts')['layouts'][layout]
        self.name = self.layout.get('name', layout).format(**values)
        self.keys = [key.format(**values) for key in self.layout['keys']]

    def ours(self, /, *names: str, **cells: Cell) -> None:
        """Add a row of our numbers; ``names`` fill the columns that identify it."""
        named = dict(zip(self.keys, names, strict=True))
        self.append({**named, 'source': OURS, **cells})

    def table(
        self,
        heads: Mapping[str, str] = {},
        missing_of: Sequence[AnnotatedResponse] = (),
        **values: object,
    ) -> Table | None:
        """
        Make a table of our rows and the papers'; None without rows.

        :param heads: the headings of columns that are not headed by their keys.
        :param missing_of: the responses that the note on missing scores is about.
        :param values: what the layout's texts name in braces.
        """
        annotated, values = self.evaluation.annotated, {**self.values, **values}
        blocks = find_blocks(annotated.paper, self.name)
        rows, used_blocks = merge(self, blocks)
        if not rows:
            return None
        cited = cite(annotated.paper, self.name)
        cited = cited or next((block.cite for block in used_blocks if block.cite), '')
        title = f'{self.layout["title"].format(**values)}, {annotated.title}'
        notes: list[str] = []
        for note in self.layout['notes']:
            if note == 'fit':
                notes += self.evaluation.notes_on_fit()
            elif note == 'missing':
                notes += self.evaluation.notes_on_missing(missing_of)
            else:
                notes.append(note.format(**values))
        return Table(
            f'{annotated.name}_{self.name}',
            f'{title} ({cited})' if cited else title,
            tuple(self._columns(rows, heads)),
            tuple({'source': PAPER, **row} for row in rows),
            tuple(filter(None, [*notes, *(block.note for block in used_blocks)])),
        )

    def _columns(
        self, rows: Sequence[Mapping[str, Cell]], heads: Mapping[str, str]
    ) -> list[Column]:
        columns = [Column(key, key, repeated=True) for key in self.keys]
        layout, own_heads = self.layout['columns'], self.layout.get('own', {})
        known_keys = {*self.keys, 'source', *layout}
        for key, options in layout.items():
            options = {**options} if isinstance(options, dict) else {'head': options}
            optional = options.pop('optional', False)
            if key == DYNAMIC:
                for name in dict.fromkeys(chain.from_iterable(self)):
                    if name not in known_keys:
                        # A column of q2@PRESET has the preset before its heading.
                        column, _, preset = name.partition('@')
                        head = own_heads.get(column) or heads.get(name, name)
                        if preset and column in own_heads:
                            head = f'{preset} {head}'
                        columns.append(_column(name, head=head, **options))
            elif not optional or any(row.get(key) for row in rows):
                columns.append(_column(key, **options))
        return columns


def _column(key: str, head: str, **options: Any) -> Column:
    """A column of a layout; one whose heading ends in % holds shares."""
    if head.endswith(' %'):
        options = {'decimals': 1, 'scale': 100, **options}
    return Column(key, head, **options)
