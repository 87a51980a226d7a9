"""Reads the text of PDF files, page by page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pypdf
from pypdf.errors import PyPdfError

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers.block import Block, clean

NO_TEXT = 'it has no text; if its pages are pictures, run OCR first'
_HYPHEN = re.compile(r'(\w)-\n(?=[a-z])')
_PARAGRAPH = re.compile(r'\n\s*\n')


def read_pdf(path: Path) -> Iterator[Block]:
    """
    The blocks of each page.

    :raises DocumentError: if the file is broken, encrypted or has no text.
    """
    found = False
    try:
        document = pypdf.PdfReader(path)
        if document.is_encrypted and not document.decrypt(''):
            raise DocumentError(path, 'it is encrypted; save it without a password')
        title = str(document.metadata.title or '') if document.metadata else ''
        title = ' '.join(clean(title).split())
        for number, page in enumerate(document.pages, 1):
            for text in _paragraphs(page.extract_text()):
                found = True
                yield Block(text, title, '', 'page', number, number)
    except DocumentError:
        raise
    # Whatever pypdf stumbles over, the file is what is wrong.
    except (PyPdfError, OSError, ValueError, TypeError, KeyError, IndexError) as e:
        raise DocumentError(path, f'it is no PDF that can be read ({e})') from e
    except (AttributeError, RecursionError, OverflowError, AssertionError) as e:
        raise DocumentError(path, f'it is no PDF that can be read ({e})') from e
    if not found:
        raise DocumentError(path, NO_TEXT)


def _paragraphs(text: str) -> Iterator[str]:
    text = _HYPHEN.sub(r'\1', clean(text))
    for paragraph in _PARAGRAPH.split(text):
        if joined := ' '.join(paragraph.split()):
            yield joined
