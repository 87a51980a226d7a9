"""
The papers' numbers, which tables print beside our own and never instead of them: a YAML
file for each paper, with blocks of rows.

A block has the ``table`` that it belongs to; the ``sets`` whose tables show it, as
patterns for their names, without those of ``except``; its ``keys`` and ``cells``, which
name the values of each row in this order; and a ``place``:

- ``after``: each row follows our row with the same keys, if there is one, and if that
  has the cell that the block ``needs``;
- ``with_first_key``: all follow the last of our rows with the same first key;
- ``end``: all follow our rows, if there are any;
- ``always``: at the end, with or without our rows;
- ``own``: the table's builder places them.

A ``note`` is printed below a table that shows the block, and ``cite`` is cited in its
title.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

import yaml

from parlai_q2.intervals import Interval

PAPERS = ('q2', 'begin', 'rome')
Row = dict[str, Any]


@dataclass(frozen=True)
class PaperBlock:
    """Rows of a paper's table, as the module's text describes them."""

    table: str
    sets: tuple[str, ...]
    exceptions: tuple[str, ...]
    place: str
    keys: tuple[str, ...]
    cells: tuple[str, ...]
    rows: tuple[Row, ...]
    needs: str = ''
    note: str = ''
    cite: str = ''

    def is_of(self, name: str, table: str) -> bool:
        """Whether the table of a set, by the set's name, shows the block."""

        def fits(patterns: Sequence[str]) -> bool:
            return any(fnmatchcase(name, pattern) for pattern in patterns)

        return table == self.table and fits(self.sets) and not fits(self.exceptions)


def find_blocks(name: str, table: str) -> list[PaperBlock]:
    """
    The blocks of a table.

    :param name: the name of the set, empty for one that is no paper's.
    :param table: e.g. ``table_3``.
    """
    return [block for block in _blocks() if block.is_of(name, table)]


def cite(name: str, table: str) -> str:
    """What the title of a table of a set cites: ``Q2, Table 3``; empty for nothing."""
    for paper in map(_load, PAPERS):
        cited = paper.get('cited', {})
        if name and name == cited.get('set') and table in cited:
            return f'{paper["paper"]}, {cited[table]}'
    return ''


def merge(
    rows: Sequence[Row], blocks: Sequence[PaperBlock], keys: Sequence[str]
) -> tuple[list[Row], list[PaperBlock]]:
    """
    Put a paper's rows among ours.

    :param rows: ours.
    :param blocks: those of the table.
    :param keys: the columns that identify a row.
    :return: all rows, and the blocks that are shown.
    """
    merged: list[Row] = []
    shown_blocks: list[PaperBlock] = []

    def add(block: PaperBlock, additions: Sequence[Row]) -> None:
        merged.extend(additions)
        if additions and block not in shown_blocks:
            shown_blocks.append(block)

    for place, row in enumerate(rows):
        merged.append(row)
        first = keys[0]
        is_last = place + 1 == len(rows) or rows[place + 1][first] != row[first]
        shared = {key: row[key] for key in keys}.items()
        for block in blocks:
            if block.place == 'after' and (not block.needs or block.needs in row):
                add(block, [r for r in block.rows if shared <= r.items()])
            elif block.place == 'with_first_key' and is_last:
                same = [r for r in block.rows if plain(r[first]) == plain(row[first])]
                add(block, [{**r, first: row[first]} for r in same])
    for block in blocks:
        if block.place == 'always' or (block.place == 'end' and rows):
            add(block, block.rows)
    return merged, shown_blocks


def plain(name: str) -> str:
    """A name as people compare it: ``Uses_Knowledge`` is ``uses knowledge``."""
    return name.replace('_', ' ').lower()


@cache
def _load(paper: str) -> dict[str, Any]:
    text = files(__name__).joinpath(f'{paper}.yaml').read_text(encoding='utf-8')
    figures: dict[str, Any] = yaml.safe_load(text)
    return figures


@lru_cache(maxsize=1)
def _blocks() -> tuple[PaperBlock, ...]:
    tables = chain.from_iterable(paper['tables'] for paper in map(_load, PAPERS))
    return tuple(map(_read_block, tables))


def _read_block(block: dict[str, Any]) -> PaperBlock:
    return PaperBlock(
        table=block['table'],
        sets=tuple(block['sets']),
        exceptions=tuple(block.get('except', ())),
        place=block['place'],
        keys=tuple(block['keys']),
        cells=tuple(block['cells']),
        rows=tuple(_row(block, values) for values in block['rows']),
        needs=block.get('needs', ''),
        note=block.get('note', ''),
        cite=block.get('cite', ''),
    )


def _row(block: dict[str, Any], values: Sequence[Any]) -> Row:
    named = zip((*block['keys'], *block['cells']), values, strict=True)
    cells = {name: value for name, value in named if value is not None}
    return {
        name: Interval(*value) if isinstance(value, list) else value
        for name, value in cells.items()
    }
