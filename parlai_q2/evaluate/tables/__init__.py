"""
The papers' tables: builders make rows of an evaluation, ``layouts.yaml`` has titles,
columns and notes, :mod:`parlai_q2.evaluate.papers` the numbers of the papers.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any

import yaml

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.papers import cite, find_blocks, merge
from parlai_q2.evaluate.sets import AnnotatedResponse
from parlai_q2.tables import OURS, PAPER, Cell, Column, Table

# In a layout's columns, the place of those that only the rows know.
DYNAMIC = '*'


class Rows(list[dict[str, Cell]]):
    """
    The rows of a table.

    :param layout: the table's name in ``layouts.yaml``.
    :param values: what the layout's texts name in braces, besides what :meth:`table`
        is given.
    """

    def __init__(self, evaluation: Evaluation, layout: str, **values: Any):
        super().__init__()
        self.evaluation, self.values = evaluation, values
        self.layout = _layouts()[layout]
        self.name = self.layout.get('name', layout).format(**values)
        self.keys = [key.format(**values) for key in self.layout['keys']]

    def ours(self, /, *names: str, **cells: Cell) -> None:
        """Add a row of our numbers, with its cells in the identifying columns."""
        named = dict(zip(self.keys, names, strict=True))
        self.append({**named, 'source': OURS, **cells})

    def table(
        self,
        heads: Mapping[str, str] = {},
        missing_of: Sequence[AnnotatedResponse] = (),
        **values: Any,
    ) -> Table | None:
        """
        The table of the rows, and of what papers have in their place; None if there are
        neither.

        :param heads: the headings of columns that are not headed by their keys.
        :param missing_of: the responses of which the note on missing scores tells.
        :param values: what the layout's texts name in braces.
        """
        annotated, values = self.evaluation.annotated, {**self.values, **values}
        blocks = find_blocks(annotated.paper, self.name)
        rows, used_blocks = merge(self, blocks, self.keys)
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
            options = options if isinstance(options, dict) else {'head': options}
            if key != DYNAMIC:
                optional = {**options}.pop('optional', False)
                if not optional or any(row.get(key) for row in rows):
                    columns.append(_column(key, options))
                continue
            for name in dict.fromkeys(chain.from_iterable(self)):
                if name not in known_keys:
                    head = own_heads.get(name, heads.get(name, name))
                    columns.append(_column(name, {**options, 'head': head}))
        return columns


def _column(key: str, how: Mapping[str, Any]) -> Column:
    """A column of a layout; a heading in % is one of shares."""
    options = {name: value for name, value in how.items() if name != 'optional'}
    if how['head'].endswith(' %'):
        options = {'decimals': 1, 'scale': 100, **options}
    return Column(key, **options)


@lru_cache(maxsize=1)
def _layouts() -> dict[str, Any]:
    text = files(__name__).joinpath('layouts.yaml').read_text(encoding='utf-8')
    layouts: dict[str, Any] = yaml.safe_load(text)['layouts']
    return layouts
