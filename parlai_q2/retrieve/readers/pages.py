"""
Converts HTML and Word files to Markdown, and reads Markdown by its structure
(CommonMark with tables), without its marks.

Beautiful Soup and markdownify convert HTML, mammoth converts Word to HTML. They run no
code and fetch nothing. Content that readers of the file do not see (scripts, hidden
elements) is left out.
"""

import html
import re
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.parsers.expat import ExpatError

from markdown_it import MarkdownIt
from markdown_it.token import Token

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers.block import (
    Block,
    clean,
    heading_path,
    join_cells,
    open_heading,
)

_HIDDEN_TAGS = (
    'script style template noscript svg math object iframe nav select button'.split()
)
_NOT_SHOWN = ', '.join([*_HIDDEN_TAGS, '[hidden]', '[aria-hidden=true]'])
_HIDING = re.compile(rf'<({"|".join(_HIDDEN_TAGS)})\b', re.IGNORECASE)
_HIDING_STYLE = re.compile(r'display:none|visibility:hidden')
# A term of a list of definitions is the heading of what defines it.
_TERM = '######'

# The maximum size of the unpacked XML of a Word file, in bytes.
MAX_XML = 200_000_000
CORE = 'docProps/core.xml'
# The errors of reading a file that is not a Word document.
NOT_WORD = (
    zipfile.BadZipFile,
    ExpatError,
    AttributeError,
    EOFError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
_CORE_TITLE = re.compile(r'<dc:title>([^<]*)</dc:title>')
_STYLE_MAP = '\n'.join(
    ["p[style-name='Title'] => h1:fresh"]
    + [f"p[style-name='Heading {n}'] => h{n + 1}:fresh" for n in range(1, 6)]
)

# The front matter of static site generators, which has the title; between two rules,
# the first line has no key.
_FRONT_MATTER = re.compile(
    r'\A---\n(?=(?:#.*\n|\s*\n)*["\']?[\w-]+["\']?\s*:)((?s:.*?))\n(?:---|\.\.\.)\n'
)
_TITLE = re.compile(r'^title:\s*["\']?(.*?)["\']?\s*$', re.MULTILINE)
# Sphinx's and MyST's directives that build a list of pages or a reference: their lines
# name files and modules.
_DIRECTIVE = re.compile(r'\{(eval-rst|toctree|auto\w*)\}')
# The labels of links: (label)=.
_LABEL = re.compile(r'^\([\w-]+\)=$')
_CODE = ('fence', 'code_block')


@dataclass(frozen=True)
class Markdown:
    """
    A document as Markdown.

    :param title: the document's title; empty if it has none.
    :param page_starts: the first line of each page; none for a document without pages.
    :param is_source: whether its lines are those of the file.
    """

    text: str
    title: str = ''
    page_starts: tuple[int, ...] = ()
    is_source: bool = False


def html_to_markdown(text: str) -> Markdown:
    """Convert HTML. Tables without header cells get blank ones."""
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_dt(self, element: object, text: str, parent_tags: object) -> str:
            return f'\n\n{_TERM} {" ".join(text.split())}\n\n'

        def convert_dd(self, element: object, text: str, parent_tags: object) -> str:
            return f'\n\n{text.strip()}\n\n'

        def convert_dl(self, element: object, text: str, parent_tags: object) -> str:
            # A heading without a text closes the last term's heading.
            return f'{text}\n\n{_TERM}\n\n'

    soup = _parse_visible(text)
    title = soup.title.get_text() if soup.title else ''
    if soup.title:
        soup.title.extract()
    converter = Converter(heading_style='atx', escape_misc=True, bullets='-')
    markdown = converter.convert_soup(soup).replace('\xa0', ' ')
    return Markdown(markdown, ' '.join(title.split()))


def _parse_visible(text: str) -> Any:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(text, 'lxml')
    for element in soup.select(_NOT_SHOWN):
        element.extract()
    for element in soup.select('[style]'):
        if _HIDING_STYLE.search(''.join(str(element['style']).split()).lower()):
            element.extract()
    return soup


def convert_word(path: Path) -> Markdown:
    """
    Convert a Word document (.docx).

    :raises DocumentError: if it is no Word document, or unpacks to too much (a zip
        bomb). The parser itself stops at an XML bomb, and reads no other file.
    """
    import mammoth  # type: ignore[import-untyped]

    try:
        core = _read_properties(path)
        with open(path, 'rb') as stream:
            page = mammoth.convert_to_html(
                stream, style_map=_STYLE_MAP, convert_image=_describe_image
            ).value
    except NOT_WORD as e:
        raise DocumentError(path, f'it is not a Word document ({e})') from e
    title = _CORE_TITLE.search(core)
    return Markdown(
        html_to_markdown(page).text,
        ' '.join(clean(html.unescape(title[1])).split()) if title else '',
    )


def _describe_image(image: Any) -> list[Any]:
    from mammoth import html as elements

    return [elements.text(image.alt_text)] if image.alt_text else []


def _read_properties(path: Path) -> str:
    """Read the part with the document's properties."""
    with zipfile.ZipFile(path) as parts:
        sizes = {part.filename: part.file_size for part in parts.infolist()}
        unpacked = sum(size for name, size in sizes.items() if 'media/' not in name)
        if unpacked > MAX_XML:
            raise DocumentError(path, f'it would unpack to {unpacked:,} bytes')
        if CORE not in sizes:
            return ''
        return parts.read(CORE).decode('utf-8', 'replace')


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
        # A notice or a slide in large letters.
        yield from headings


def _find_title(tokens: Sequence[Token]) -> str:
    """Find the first heading, if all others are below it."""
    places = [n for n, token in enumerate(tokens) if token.type == 'heading_open']
    levels = [int(tokens[place].tag[1]) for place in places]
    if not levels or min(levels[1:], default=7) <= levels[0]:
        return ''
    return ' '.join(_visible_text(tokens[places[0] + 1]).split())


def _visible_text(token: Token) -> str:
    if token.type in _CODE:
        return '' if _DIRECTIVE.match(token.info) else token.content
    if token.type == 'html_block':
        return ' '.join(_parse_visible(token.content).get_text(' ').split())
    if token.type != 'inline' or _is_badges(token):
        return ''
    parts, has_tags = [], False
    for child in token.children or ():
        if child.type == 'softbreak':
            # A wrapped line does not end a sentence.
            parts.append(' ')
        elif child.type == 'hardbreak':
            parts.append('\n')
        elif child.type in ('text', 'code_inline', 'text_special', 'image'):
            parts.append(html.escape(child.content))
        elif child.type == 'html_inline' and _is_closed(child.content, token.content):
            has_tags = True
            parts.append(child.content)
    text = ''.join(parts)
    if not has_tags:
        return html.unescape(text)
    soup = _parse_visible(text)
    for line_break in soup('br'):
        line_break.replace_with('\n')
    return str(soup.get_text())


def _is_closed(tag: str, text: str) -> bool:
    """Whether a tag whose content is hidden, such as "<script>", ends in the text."""
    match = _HIDING.match(tag)
    return match is None or f'</{match[1].lower()}' in text.lower()


def _is_badges(token: Token) -> bool:
    """Whether a paragraph has only linked images, like a project's badges."""
    kinds = [child.type for child in token.children or ()]
    expected = {'image', 'link_open', 'link_close', 'softbreak', 'hardbreak'}
    is_blank = all(
        child.type in expected or not child.content.strip()
        for child in token.children or ()
    )
    return is_blank and 'image' in kinds and 'link_open' in kinds
