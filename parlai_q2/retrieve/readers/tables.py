"""
Reads rows of CSV and lines of JSON, each a document of its own.

The fields ``title``, ``text`` and ``url`` mean what they say. A row without ``text`` is
read as "name: value" of all its fields.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from parlai_q2.errors import DocumentError
from parlai_q2.io.read import READERS, open_text
from parlai_q2.retrieve.readers.block import Block, clean

_logger = logging.getLogger(__name__)
MOST_NAMED = 5


def reader(format: str) -> Callable[[Path], Iterator[Block]]:
    """A reader of files of a format of :data:`~parlai_q2.io.read.READERS`."""

    def read(path: Path) -> Iterator[Block]:
        good = bad = 0
        with open_text(path) as stream:
            for number, fields, problem, *_ in READERS[format](stream):
                text = '' if problem else _text(fields)
                if problem or not text:
                    bad += 1
                    if bad <= MOST_NAMED:
                        why = problem or 'has no text.'
                        _logger.warning(f'{path}, line {number}: {why} Left out.')
                    continue
                good += 1
                url = clean(str(fields.get('url') or '')).strip()
                place = (url, 0, 0) if url else ('line', number, number)
                title = ' '.join(clean(str(fields.get('title') or '')).split())
                yield Block(text, title, '', *place, True)
        if bad > MOST_NAMED:
            _logger.warning(f'{path}: {bad - MOST_NAMED} further lines were left out.')
        if bad and not good:
            raise DocumentError(path, 'none of its lines has a text')

    return read


def _text(fields: Mapping[str, Any]) -> str:
    text = fields.get('text')
    if text is None:
        pairs = ((k, v) for k, v in fields.items() if k not in ('url', 'title'))
        said = (f'{k}: {v}' for k, v in pairs if isinstance(v, (str, int, float)) and v)
        text = '\n'.join(said)
    return clean(text).strip() if isinstance(text, str) else ''
