"""Reads Markdown by its structure (CommonMark with tables), without its marks."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from markdown_it import MarkdownIt
from markdown_it.token import Token

from parlai_q2.retrieve.readers.block import (
    Block,
    heading_path,
    join_cells,
    open_heading,
)
from parlai_q2.retrieve.readers.convert import Markdown, html_to_text

# What static site generators put before the text, with the title.
_FRONT_MATTER = re.compile(r'\A---\n(.*?)\n(?:---|\.\.\.)\n', re.DOTALL)
_TITLE = re.compile(r'^title:\s*["\']?(.*?)["\']?\s*$', re.MULTILINE)
# Sphinx's and MyST's directives that build a list of pages or a reference: their lines
# name files and modules.
_DIRECTIVE = re.compile(r'\{(eval-rst|toctree|auto\w*)\}')
# The labels of links: (label)=.
_LABEL = re.compile(r'^\([\w-]+\)=$')
_CODE = ('fence', 'code_block')


def read_blocks(markdown: Markdown) -> Iterator[Block]:
    """
    Read a block for each paragraph, list item, code block and row of a table; a row
    names its columns, as it may be read alone.
    """
    for number, block in enumerate(_blocks(markdown), 1):
        if markdown.is_source:
            yield block
        elif markdown.page_starts:
            pages = [
                bisect_right(markdown.page_starts, line)
                for line in (block.first, block.last)
            ]
            yield replace(block, unit='page', first=pages[0], last=pages[1])
        else:
            yield replace(block, unit='paragraph', first=number, last=number)


def _blocks(markdown: Markdown) -> Iterator[Block]:
    text, title, skipped = markdown.text, markdown.title, 0
    if markdown.is_source and (front := _FRONT_MATTER.match(text)):
        named = _TITLE.search(front[1])
        title = named[1] if named else ''
        skipped = front[0].count('\n')
        text = text[front.end() :]
    parser = MarkdownIt('commonmark', {'html': markdown.is_source}).enable('table')
    tokens = parser.parse(text)
    title = title or _find_title(tokens)
    levels: dict[int, str] = {}
    is_empty, headings = True, list[Block]()
    row, columns = list[str](), list[str]()
    lines = (1, 1)
    for place, token in enumerate(tokens):
        if token.map:
            lines = (token.map[0] + 1 + skipped, max(token.map[1], 1) + skipped)
        visible = _visible_text(token).strip()
        parent = tokens[place - 1].type if token.type == 'inline' else ''
        block = Block(visible, title, heading_path(levels), 'line', *lines)
        if parent == 'heading_open':
            levels = open_heading(levels, int(tokens[place - 1].tag[1]), visible)
            headings.append(replace(block, heading=''))
        elif parent in ('th_open', 'td_open'):
            row.append(' '.join(visible.split()))
        elif token.type == 'tr_close':
            is_header = tokens[place + 1].type == 'thead_close'
            has_rows = is_header and tokens[place + 2].type == 'tbody_open'
            if is_header and has_rows:
                columns = row
            elif any(row):
                text = join_cells([] if is_header else columns, row)
                is_empty = False
                yield replace(block, text=text, alone=True)
            row = []
        elif visible and not _LABEL.match(visible):
            is_empty = False
            yield replace(block, code=token.type in _CODE)
    if is_empty:
        # A notice or a slide that is set in large letters.
        yield from headings


def _find_title(tokens: Sequence[Token]) -> str:
    """The first heading, if all others stand under it."""
    places = [n for n, token in enumerate(tokens) if token.type == 'heading_open']
    levels = [int(tokens[place].tag[1]) for place in places]
    if not levels or min(levels[1:], default=7) <= levels[0]:
        return ''
    return ' '.join(_visible_text(tokens[places[0] + 1]).split())


def _visible_text(token: Token) -> str:
    if token.type in _CODE:
        return '' if _DIRECTIVE.match(token.info) else token.content
    if token.type == 'html_block':
        return html_to_text(token.content)
    if token.type != 'inline' or _is_badges(token):
        return ''
    parts = []
    for child in token.children or ():
        if child.type == 'softbreak':
            # A line that was wrapped ends no sentence.
            parts.append(' ')
        elif child.type == 'hardbreak':
            parts.append('\n')
        elif child.type in ('text', 'code_inline', 'text_special', 'image'):
            parts.append(child.content)
    return ''.join(parts)


def _is_badges(token: Token) -> bool:
    """Whether a paragraph has nothing but images in links, as a project's badges."""
    kinds = [child.type for child in token.children or ()]
    expected = {'image', 'link_open', 'link_close', 'softbreak', 'hardbreak'}
    is_blank = all(
        child.type in expected or not child.content.strip()
        for child in token.children or ()
    )
    return is_blank and 'image' in kinds and 'link_open' in kinds
