"""
Readers of documents, by the ending of the file's name.

Files with a grammar (Markdown, HTML, PDF, Word) are read in a process of their own (see
:mod:`~parlai_q2.retrieve.readers.process`); text, CSV and JSON lines are read in this
one.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from parlai_q2.packages import check_package
from parlai_q2.retrieve.readers.block import Block
from parlai_q2.retrieve.readers.plain import read_text
from parlai_q2.retrieve.readers.tables import reader

Reader = Callable[[Path], Iterator[Block]]
# Raised when what is made of a file, or searched of it, changes: indexes are then made
# again.
VERSION = 9

HERE: dict[str, Reader] = {
    '.txt': read_text,
    '.text': read_text,
    '.csv': reader('csv'),
    '.tsv': reader('tsv'),
    '.jsonl': reader('jsonl'),
    '.ndjson': reader('jsonl'),
}
_HTML, _MARKDOWN = 'html:read_html', 'markdown:read_markdown'
APART = {
    '.md': _MARKDOWN,
    '.markdown': _MARKDOWN,
    '.html': _HTML,
    '.htm': _HTML,
    '.xhtml': _HTML,
    '.pdf': 'pdf:read_pdf',
    '.docx': 'docx:read_docx',
}
# What a reader imports: its module and the package to install.
PACKAGES = {
    '.md': ('markdown_it', 'markdown-it-py'),
    '.markdown': ('markdown_it', 'markdown-it-py'),
    '.pdf': ('pypdf', 'pypdf'),
    '.docx': ('docx', 'python-docx'),
}
ENDINGS = frozenset({*HERE, *APART})


def reader_apart(ending: str) -> Reader:
    """The reader of an ending of :data:`APART`, imported."""
    module, _, name = APART[ending].partition(':')
    return getattr(import_module(f'parlai_q2.retrieve.readers.{module}'), name)


def check_packages(ending: str) -> None:
    """
    Check that what reads files of an ending is installed.

    :raises MissingPackageError: if not; says what to install.
    """
    if ending in PACKAGES:
        check_package(*PACKAGES[ending], 'documents', f'Reading {ending} files')
