"""
Readers of documents, by the ending of the file's name.

Files with a grammar (Markdown, HTML, PDF, Word) are converted in a child process (see
:mod:`~parlai_q2.retrieve.readers.child`); text, CSV and JSON lines are read in this
one, line by line.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from parlai_q2.packages import check_package
from parlai_q2.retrieve.readers.block import Block
from parlai_q2.retrieve.readers.plain import read_text
from parlai_q2.retrieve.readers.tables import table_reader

Reader = Callable[[Path], Iterator[Block]]
# Raised when what is made of a file, or searched of it, changes: indexes are then made
# again.
VERSION = 10

DIRECT: Mapping[str, Reader] = {
    '.txt': read_text,
    '.text': read_text,
    '.csv': table_reader('csv'),
    '.tsv': table_reader('tsv'),
    '.jsonl': table_reader('jsonl'),
    '.ndjson': table_reader('jsonl'),
}
_MARKDOWN, _HTML = ('.md', '.markdown'), ('.html', '.htm', '.xhtml')
# What converts a file, and the packages that it takes: by the names to import and to
# install.
_PARSER = ('markdown_it', 'markdown-it-py')
_PAGES = (_PARSER, ('bs4', 'beautifulsoup4'), ('markdownify', 'markdownify'))
_PACKAGES: Mapping[str, tuple[tuple[str, str], ...]] = {
    **dict.fromkeys(_MARKDOWN, _PAGES),
    **dict.fromkeys(_HTML, _PAGES),
    '.docx': (*_PAGES, ('mammoth', 'mammoth')),
    '.pdf': (*_PAGES, ('pdf_inspector', 'pdf-inspector')),
}
CONVERTED = frozenset(_PACKAGES)
ENDINGS = CONVERTED | frozenset(DIRECT)


def convert_blocks(path: Path) -> Iterator[Block]:
    """
    Read a file with an ending of :data:`CONVERTED`.

    :raises DocumentError: if it cannot be read.
    """
    from parlai_q2.retrieve.readers import convert, pdf
    from parlai_q2.retrieve.readers.markdown import read_blocks

    ending = path.suffix.lower()
    load = convert.load_markdown
    if ending in _HTML:
        load = convert.convert_html
    elif ending == '.docx':
        load = convert.convert_word
    elif ending == '.pdf':
        load = pdf.convert_pdf
    return read_blocks(load(path))


def check_packages(ending: str) -> None:
    """
    Check that what reads files of an ending is installed.

    :raises MissingPackageError: if not; says what to install.
    """
    for module, package in _PACKAGES.get(ending, ()):
        check_package(module, package, 'documents', f'Reading {ending} files')
