"""Reads Markdown by its structure (CommonMark with tables), without its marks."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from parlai_q2.retrieve.readers.block import Block, headings, named_cells, open_heading
from parlai_q2.retrieve.readers.html import html_text
from parlai_q2.retrieve.readers.plain import text_of

# What static site generators put before the text, with the title.
_FRONT = re.compile(r'\A---\n(.*?)\n(?:---|\.\.\.)\n', re.DOTALL)
_TITLE = re.compile(r'^title:\s*["\']?(.*?)["\']?\s*$', re.MULTILINE)
# Sphinx's and MyST's directives that build a list of pages or a reference: their lines
# name files and modules.
_BUILDS = re.compile(r'\{(eval-rst|toctree|auto\w*)\}')
# The labels of links: (label)=.
_LABEL = re.compile(r'^\([\w-]+\)=$')


def read_markdown(path: Path) -> Iterator[Block]:
    """
    A block for each paragraph, list item, code block and row of a table; a row names
    its columns, as it may be read alone.
    """
    text = text_of(path)
    title, skipped = '', 0
    if front := _FRONT.match(text):
        named = _TITLE.search(front[1])
        title = named[1] if named else ''
        skipped = front[0].count('\n')
        text = text[front.end() :]
    tokens = MarkdownIt('commonmark', {'html': True}).enable('table').parse(text)
    title = title or _title(tokens)
    levels: dict[int, str] = {}
    row, columns = list[str](), list[str]()
    lines = (1, 1)
    for place, token in enumerate(tokens):
        if token.map:
            lines = (token.map[0] + 1 + skipped, max(token.map[1], 1) + skipped)
        said = _text(token).strip()
        if token.type == 'inline' and tokens[place - 1].type == 'heading_open':
            level = int(tokens[place - 1].tag[1])
            levels = open_heading(levels, level, said)
        elif token.type == 'inline' and tokens[place - 1].type in (
            'th_open',
            'td_open',
        ):
            row.append(said)
        elif token.type == 'tr_close':
            if tokens[place + 1].type == 'thead_close':
                columns = row
            elif any(row):
                text = named_cells(columns, row)
                yield Block(text, title, headings(levels), 'line', *lines, True)
            row = []
        elif said and not _LABEL.match(said):
            code = token.type in ('fence', 'code_block')
            yield Block(said, title, headings(levels), 'line', *lines, code=code)


def _title(tokens: Sequence[Token]) -> str:
    """The first heading, if all others stand under it."""
    places = [n for n, token in enumerate(tokens) if token.type == 'heading_open']
    levels = [int(tokens[place].tag[1]) for place in places]
    if not levels or min(levels[1:], default=7) <= levels[0]:
        return ''
    return ' '.join(_text(tokens[places[0] + 1]).split())


def _text(token: Token) -> str:
    if token.type in ('fence', 'code_block'):
        return '' if _BUILDS.match(token.info) else token.content
    if token.type == 'html_block':
        return html_text(token.content)
    if token.type != 'inline' or _is_badges(token):
        return ''
    parts = []
    for child in token.children or ():
        if child.type == 'softbreak':
            # A line that was wrapped ends no sentence.
            parts.append(' ')
        elif child.type == 'hardbreak':
            parts.append('\n')
        elif child.type in ('text', 'code_inline', 'text_special'):
            parts.append(child.content)
        elif child.type == 'image':
            parts.append(''.join(_text(one) or one.content for one in [child]))
    return ''.join(parts)


def _is_badges(token: Token) -> bool:
    """Whether a paragraph has nothing but images in links, as a project's badges."""
    kinds = [child.type for child in token.children or ()]
    shown = {'image', 'link_open', 'link_close', 'softbreak', 'hardbreak'}
    blank = all(
        child.type in shown or not child.content.strip()
        for child in token.children or ()
    )
    return blank and 'image' in kinds and 'link_open' in kinds
