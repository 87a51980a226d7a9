"""
Reads rows of CSV and lines of JSON, each a document of its own.

The fields ``title``, ``text`` and ``url`` mean what they say. A question with its
answer, as FAQs have them, is read as the answer under that heading. Any other row of
CSV is read as all its cells with their columns' names; a line of JSON is left out, as
files of JSON lines are data more often than documents.
"""

import logging
from collections.abc import Callable, Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from parlai_q2.errors import DocumentError
from parlai_q2.io.formats import READERS, open_text
from parlai_q2.retrieve.readers.block import Block, clean, join_cells

_logger = logging.getLogger(__name__)
MAX_NAMED = 5
# Columns of a FAQ, in the languages that the authors read.
_QUESTION = frozenset('question q frage pregunta domanda'.split())
_ANSWER = frozenset('answer a antwort réponse reponse respuesta risposta'.split())


def table_reader(format: str) -> Callable[[Path], Iterator[Block]]:
    """A reader of files of a format of :data:`~parlai_q2.io.formats.READERS`."""
    of_json = format == 'jsonl'
    lacks = 'has no "text".' if of_json else 'has no text.'
    expected = '"text", or "question" and "answer"' if of_json else 'a text'

    def read(path: Path) -> Iterator[Block]:
        good = bad = 0
        with open_text(path) as stream:
            for number, fields, problem, *_ in READERS[format](stream):
                block = None if problem else _block(fields, number, not of_json)
                if block is not None:
                    good += 1
                    yield block
                    continue
                bad += 1
                # A file without any is named once, by the error.
                if bad <= MAX_NAMED and (problem or good):
                    _logger.warning(
                        f'{path}, line {number}: {problem or lacks} Left out.'
                    )
        if bad and not good:
            raise DocumentError(path, f'none of its lines has {expected}')
        if bad > MAX_NAMED:
            _logger.warning(f'{path}: {bad - MAX_NAMED} further lines were left out.')

    return read


def _block(fields: Mapping[str, Any], number: int, any_row: bool) -> Block | None:
    """
    A row as a block; None if it has no text.

    :param any_row: whether a row without text or answer is read, too.
    """
    cells = {name: _cell(value) for name, value in fields.items()}
    url, heading, text = cells.get('url', ''), '', ''
    question, answer = _column(cells, _QUESTION), _column(cells, _ANSWER)
    other_columns = [name for name in cells if name not in ('title', 'url')]
    if 'text' in cells:
        text = cells['text']
    elif question is not None and answer is not None:
        heading = ' '.join(cells[question].split())
        other_columns = [
            name for name in other_columns if name not in (question, answer)
        ]
        if text := cells[answer]:
            other_cells = [cells[name] for name in other_columns] if any_row else []
            text = join_cells(['', *other_columns], [text, *other_cells])
    elif any_row:
        names = other_columns if len(cells) > 1 else ['']
        text = join_cells(names, [cells[name] for name in other_columns])
    if not text:
        return None
    place = (url, 0, 0) if url else ('line', number, number)
    return Block(text, ' '.join(cells.get('title', '').split()), heading, *place, True)


def _column(cells: Mapping[str, str], names: Container[str]) -> str | None:
    return next((name for name in cells if name.strip().casefold() in names), None)


def _cell(value: Any) -> str:
    """A value as a text; empty for what is none."""
    return clean(str(value)).strip() if isinstance(value, (str, int, float)) else ''
