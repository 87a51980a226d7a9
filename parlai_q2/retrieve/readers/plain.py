"""Reads text files: paragraphs with blank lines between them."""

from collections.abc import Iterator
from pathlib import Path

from parlai_q2.errors import DocumentError
from parlai_q2.io.read import open_text
from parlai_q2.retrieve.readers.block import Block, clean

# A line longer than this is no text that a person wrote.
LONGEST_LINE = 10_000_000
# A paragraph that ends like this introduces the next one: "How long is it?"
_INTRODUCES = ('?', ':')
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
            yield Block('\n'.join(lines), '', '', 'line', first, number - 1, True)
            lines, first = [], 0
    if lines:
        yield Block('\n'.join(lines), '', '', 'line', first, number, True)
