"""
Reads HTML by its structure. Nothing in it is run or fetched, and what a reader of the
page does not see (scripts, styles, hidden elements) is left out.
"""

from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Optional

from parlai_q2.retrieve.readers.block import Block, headings, open_heading
from parlai_q2.retrieve.readers.plain import text_of

LEFT_OUT = frozenset(
    'script style template noscript svg math object iframe nav select button'.split()
)
# Elements without an end.
VOID = frozenset(
    'area base br col embed hr img input link meta source track wbr'.split()
)
BLOCKS = frozenset(
    'address article aside blockquote body dd details div dl dt fieldset figcaption '
    'figure footer form h1 h2 h3 h4 h5 h6 header hr html li main ol p pre section '
    'summary table tbody td tfoot th thead tr ul'.split()
)
# A term of a list of definitions is the heading of what defines it.
TERM = 7
HEADINGS = {**{f'h{level}': level for level in range(1, TERM)}, 'dt': TERM}
CELLS = ('td', 'th')
# What many programs write around the text of a cell.
AROUND = ('p', 'div')


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[Block] = []
        self.title = ''
        self._levels: dict[int, str] = {}
        self._parts: list[str] = []
        self._first = 1
        # The element that is left out, and how deep in others of its name.
        self._out: Optional[str] = None
        self._depth = 0
        self._in_title = False
        self._heading: Optional[int] = None
        self._kept = 0
        # Whether what is read now is a row of a table, and one of its cells; and
        # whether nothing of that cell was read yet.
        self._row = self._cell = self._new = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, Optional[str]]]) -> None:
        self._end_paragraph(tag)
        if self._out is not None:
            self._depth += tag == self._out
        elif (tag in LEFT_OUT or _hidden(dict(attrs))) and tag not in VOID:
            self._out, self._depth = tag, 1
        elif tag == 'title':
            self._in_title = True
        elif tag == 'br':
            self._parts.append('\n')
        elif tag in CELLS:
            if self._parts:
                self._parts.append(' | ')
            self._cell = self._new = True
        elif tag in BLOCKS and not (tag in AROUND and self._cell and self._new):
            self.flush()
            self._heading = HEADINGS.get(tag)
            self._row = tag == 'tr'
        self._kept += tag == 'pre' and self._out is None

    def _end_paragraph(self, tag: str) -> None:
        """A hidden paragraph ends where a block begins or ends, also without </p>."""
        if self._out == 'p' and tag in BLOCKS:
            self._out = None

    def handle_endtag(self, tag: str) -> None:
        if tag != 'p':
            self._end_paragraph(tag)
        if self._out is not None:
            self._depth -= tag == self._out
            if not self._depth:
                self._out = None
        elif tag == 'title':
            self._in_title = False
        elif tag in CELLS:
            self._cell = False
        elif tag in BLOCKS and not (tag in AROUND and self._cell):
            self.flush()
            if tag == 'dl':
                self._levels = {n: s for n, s in self._levels.items() if n < TERM}
        if tag == 'pre' and self._out is None:
            self._kept = max(0, self._kept - 1)

    def handle_data(self, data: str) -> None:
        if self._out is not None:
            return
        if self._in_title:
            self.title += data
        elif data.strip() or self._parts:
            self._new = self._new and not data.strip()
            if not self._parts:
                self._first = self.getpos()[0]
            # Outside of <pre> a line break is a space.
            self._parts.append(data if self._kept else ' '.join(data.split('\n')))

    def flush(self) -> None:
        """End the block that is being read."""
        text = ''.join(self._parts)
        text = '\n'.join(' '.join(line.split()) for line in text.split('\n'))
        text, self._parts = text.strip().strip('|').strip(), []
        if self._heading is not None:
            if text:
                self._levels = open_heading(self._levels, self._heading, text)
            self._heading = None
        elif text:
            lines = ('line', self._first, self.getpos()[0])
            alone = self._row
            self.found.append(Block(text, '', headings(self._levels), *lines, alone))
        self._row = self._cell = False


def _hidden(attributes: dict[str, Optional[str]]) -> bool:
    style = (attributes.get('style') or '').replace(' ', '').lower()
    return (
        'hidden' in attributes
        or attributes.get('aria-hidden') == 'true'
        or 'display:none' in style
        or 'visibility:hidden' in style
    )


def _parsed(text: str) -> _Page:
    page = _Page()
    page.feed(text)
    page.close()
    page.flush()
    return page


def html_text(text: str) -> str:
    """The text that a piece of HTML shows."""
    return '\n'.join(block.text for block in _parsed(text).found)


def read_html(path: Path) -> Iterator[Block]:
    """A block for each paragraph, item and row of a table."""
    page = _parsed(text_of(path))
    title = ' '.join(page.title.split())
    for one in page.found:
        yield replace(one, title=title)
