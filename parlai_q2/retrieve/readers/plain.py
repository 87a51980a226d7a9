"""Reads text files: paragraphs with blank lines between them."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from parlai_q2.errors import DocumentError
from parlai_q2.io.formats import open_text
from parlai_q2.retrieve.readers.block import Block, clean

# A paragraph that ends like this introduces the next one: "How long is it?"
_INTRODUCES = ('?', ':')
# Lines that editors wrap are longer than this.
SHORTEST_WRAPPED = 40
_ENDS = ('.', '!', '?', ':', ';')
_ITEM = re.compile(r'[-*+•|]|\(?\w{1,3}[.)]\s')
NO_UTF8 = 'it is not UTF-8 text. Convert it, e.g. iconv -f latin1 -t UTF-8'


def text_of(path: Path) -> str:
    """
    The text of a file.

    :raises DocumentError: if it is not UTF-8, or not text.
    """
    with open_text(path) as stream:
        text = stream.read()
    if '\0' in text:
        raise DocumentError(path, 'it is not text: it has null bytes')
    try:
        text.encode('utf-8')
    except UnicodeEncodeError:
        raise DocumentError(path, NO_UTF8) from None
    return clean(text)


def read_text(path: Path) -> Iterator[Block]:
    """A block for each paragraph; a question goes with the paragraph after it."""
    lines: list[str] = []
    first = number = 0
    for number, line in enumerate(text_of(path).split('\n'), 1):
        if line.strip():
            first = first or number
            lines.append(line.strip())
        elif lines and not lines[-1].endswith(_INTRODUCES):
            yield Block(unwrapped(lines), '', '', 'line', first, number - 1, True)
            lines, first = [], 0
    if lines:
        yield Block(unwrapped(lines), '', '', 'line', first, number, True)


def unwrapped(lines: Sequence[str]) -> str:
    """
    Lines as one text, without the breaks that only wrap it: those after a long line
    that ends no sentence, before one that is no item of a list.

    >>> unwrapped(['Hoses and filters of every kind that we sell are', 'not covered.'])
    'Hoses and filters of every kind that we sell are not covered.'
    """
    text = lines[0]
    for before, line in zip(lines, lines[1:], strict=False):
        ends = len(before) < SHORTEST_WRAPPED or before.endswith(_ENDS)
        text += '\n' if ends or _ITEM.match(line) else ' '
        text += line
    return text
