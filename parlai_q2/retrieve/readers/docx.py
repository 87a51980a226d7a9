"""
Reads Word documents (.docx): a zip file of XML.

Before anything is parsed, the parts are looked at: one that would unpack to too much
(a zip bomb), or that declares entities (an XML bomb, or a way to read other files), is
refused. Word writes neither.
"""

import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import docx
from docx.opc.exceptions import OpcError
from docx.table import Table
from lxml.etree import LxmlError  # type: ignore[import-untyped]

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers.block import Block, clean, headings, open_heading

# What all parts together may unpack to, and how much more that may be than the file.
LARGEST = 500_000_000
MOST_PARTS = 10_000
RATIO = 200
# Small files pack well, and do no harm.
SMALL = 10_000_000
# Also in UTF-16, where each character has a null byte.
_DECLARES = re.compile(rb'<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)')
_LEVEL = re.compile(r'heading (\d)', re.IGNORECASE)


def check_parts(path: Path) -> None:
    """
    Refuse a document whose parts are too large or declare entities.

    :raises DocumentError: if so, or if it is no zip file.
    """
    try:
        with zipfile.ZipFile(path) as parts:
            sizes = sum(part.file_size for part in parts.infolist())
            packed = path.stat().st_size
            if len(parts.infolist()) > MOST_PARTS or sizes > LARGEST:
                raise DocumentError(path, f'it would unpack to {sizes:,} bytes')
            if sizes > SMALL and sizes > RATIO * packed:
                raise DocumentError(
                    path, f'its {packed:,} bytes would unpack to {sizes:,}'
                )
            for part in parts.infolist():
                if part.filename.lower().endswith(('.xml', '.rels')):
                    if _DECLARES.search(parts.read(part)):
                        raise DocumentError(
                            path, f'{part.filename} declares entities, as no Word does'
                        )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as e:
        raise DocumentError(path, f'it is no Word document ({e})') from e


def read_docx(path: Path) -> Iterator[Block]:
    """
    A block for each paragraph and row of a table.

    :raises DocumentError: if it cannot be read.
    """
    check_parts(path)
    try:
        document = docx.Document(str(path))
        title = ' '.join(clean(document.core_properties.title or '').split())
        levels: dict[int, str] = {}
        number = 0
        for item in document.iter_inner_content():
            if isinstance(item, Table):
                for row in item.rows:
                    number += 1
                    text = clean(' | '.join(_cells(row)))
                    if text.strip(' |'):
                        yield replace(_block(text, title, levels, number), alone=True)
                continue
            number += 1
            text, style = (
                clean(item.text).strip(),
                (item.style and item.style.name) or '',
            )
            level = _LEVEL.match(style)
            if level or style == 'Title':
                levels = open_heading(levels, int(level[1]) if level else 0, text)
                title = title or (text if style == 'Title' else '')
            elif text:
                yield _block(text, title, levels, number)
    except (OpcError, LxmlError, KeyError, ValueError, AttributeError) as e:
        raise DocumentError(path, f'it is no Word document ({e})') from e


def _cells(row: object) -> list[str]:
    # A merged cell is listed once for each column that it spans.
    texts = [' '.join(cell.text.split()) for cell in row.cells]  # type: ignore[attr-defined]
    return [t for n, t in enumerate(texts) if t and (not n or t != texts[n - 1])]


def _block(text: str, title: str, levels: dict[int, str], number: int) -> Block:
    return Block(text, title, headings(levels), 'paragraph', number, number)
