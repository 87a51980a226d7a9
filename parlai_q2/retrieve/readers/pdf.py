"""
Converts PDF files to Markdown with pdf-inspector, and repairs what it leaves: running
headers and footers, words and paragraphs that a line, column or page breaks, and short
columns that it reads across.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers.block import clean
from parlai_q2.retrieve.readers.pages import Markdown

NO_TEXT = 'it has no text; if its pages are pictures, run OCR first'
_END_MARKS = '.!?:;"\')]’”'
# "iden- tifier", but not "two- and three-day".
_BROKEN_WORD = re.compile(r'(?<=[^\W\d_])- (?!(?:and|or|to|but)\b)(?=[a-z])')
_NOT_PROSE = re.compile(r'#|\||```')
_ITEM = re.compile(r'[-*+] |\d+[.)] ')
# The placeholders of programs for a missing title.
_NO_TITLES = frozenset({'untitled', '(untitled)', '(unspecified)'})
# The minimum number and mean length of a column's lines, and the minimum space between
# columns, in points: a table's cells are shorter.
MIN_COLUMN_LINES, MIN_COLUMN_CHARACTERS, GUTTER = 4, 25, 6
# The number of characters by which a line is recognised.
LINE_START = 12
# The maximum number of running lines at the top and at the bottom of a page.
RUNNING_LINES = 2
# The bullet of an item is repeated inside it.
_TWO_BULLETS = re.compile(r'^- (?:\*\*|[•·▪]) ', re.MULTILINE)
_THREE_LETTERS = re.compile(r'[^\W\d_]{3}')
_VARIABLE = re.compile(r'[\W\d_]+')


def convert_pdf(path: Path) -> Markdown:
    """
    Convert a PDF file, page by page.

    :raises DocumentError: if it is broken, encrypted or has no text.
    """
    import pdf_inspector

    name = str(path)
    try:
        document = pdf_inspector.extract_pages_markdown(name)
        title = ' '.join(clean(pdf_inspector.detect_pdf(name).title or '').split())
        items = pdf_inspector.extract_text_with_positions(name)
    except ValueError as e:
        if 'encrypted' in str(e):
            problem = 'it is encrypted; save it without a password'
        else:
            problem = f'it is no PDF that can be read ({e})'
        raise DocumentError(path, problem) from e
    running = find_running_lines([(item.page, item.y, item.text) for item in items])
    blocks = []
    for number, page in enumerate(document.pages, 1):
        text = clean(page.markdown)
        if number not in document.pages_with_tables:
            body = [
                item
                for item in items
                if item.page == number and item.text.strip() not in running[number]
            ]
            text = read_short_columns(body, text) or text
        blocks.append(_without_running_lines(text, running[number]))
    text, starts = join_pages(blocks)
    if not text.strip():
        raise DocumentError(path, NO_TEXT)
    return Markdown(text, '' if title in _NO_TITLES else title, starts)


def read_short_columns(items: Sequence[Any], text: str) -> str:
    """
    Read a page of two columns that pdf-inspector reads across, as it does where columns
    are shorter than about a third of the page.

    :param items: the page's pieces of text, as pdf-inspector gives them; their ``y`` is
        from the bottom.
    :param text: the page as pdf-inspector reads it.
    :return: Markdown; empty if the page has no two columns of prose, or the text has
        one after the other.
    """
    lefts = Counter(round(item.x) for item in items)
    if len(lefts) < 2:
        return ''
    left_edge, right_edge = sorted(edge for edge, _ in lefts.most_common(2))
    first = [item for item in items if abs(item.x - left_edge) < 1]
    second = [item for item in items if abs(item.x - right_edge) < 1]
    top = max(item.y for item in second)
    first = [item for item in first if item.y <= top + item.font_size]
    for column in (first, second):
        length = sum(len(item.text) for item in column) / max(len(column), 1)
        if len(column) < MIN_COLUMN_LINES or length < MIN_COLUMN_CHARACTERS:
            return ''
    if any(item.x + item.width > right_edge - GUTTER for item in first):
        return ''
    last, following = first[-1].text[:LINE_START], second[0].text[:LINE_START]
    if -1 < text.find(last) < text.find(following):
        return ''
    body = {id(item) for item in (*first, *second)}
    outside = [item for item in items if id(item) not in body]
    size = median(item.font_size for item in first)
    above = [
        f'# {item.text}' if item.font_size > size else item.text
        for item in outside
        if item.y > top
    ]
    below = [item.text for item in outside if item.y <= top]
    prose = [' '.join(item.text for item in column) for column in (first, second)]
    return '\n\n'.join([*above, *prose, *below])


def find_running_lines(
    items: Iterable[tuple[int, float, str]],
) -> Mapping[int, Set[str]]:
    """
    Find texts at the same height of several pages that are equal except for numbers:
    headers and footers.

    :param items: pieces of text with their pages and heights.
    :return: the texts by page.

    >>> dict(find_running_lines([(1, 9.0, 'A 1'), (1, 5.0, 'x'), (2, 9.0, 'A 2')]))
    {1: {'A 1'}, 2: {'A 2'}}
    """
    heights: dict[int, set[int]] = defaultdict(set)
    texts: dict[tuple[int, str], dict[int, str]] = defaultdict(dict)
    for page, height, text in items:
        heights[page].add(round(height))
        texts[round(height), _VARIABLE.sub(' ', text)][page] = text.strip()
    running: dict[int, set[str]] = defaultdict(set)
    for (height, _), text_by_page in texts.items():
        for page, text in text_by_page.items():
            ordered = sorted(heights[page])
            outermost = ordered[:RUNNING_LINES] + ordered[-RUNNING_LINES:]
            if len(text_by_page) > 1 and text and height in outermost:
                running[page].add(text)
    return running


def _without_running_lines(page: str, running: Set[str]) -> list[str]:
    """Remove the running lines at the beginning and the end of a page's blocks."""
    # A bare page number would also match "1 Introduction".
    texts = [text for text in running if _THREE_LETTERS.search(text)]
    blocks = []
    for block in page.strip().split('\n\n'):
        rest = block.strip()
        while rest and rest not in running:
            bare = rest.lstrip('#*_ ')
            before = next((text for text in texts if bare.startswith(text)), None)
            after = next((text for text in texts if rest.endswith(f' {text}')), None)
            if before is not None:
                rest = bare[len(before) :].strip('*_ ')
            elif after is not None:
                rest = rest[: -len(after)].rstrip()
            else:
                blocks.append(rest)
                break
    return blocks


def join_pages(pages: Sequence[Sequence[str]]) -> tuple[str, tuple[int, ...]]:
    """
    Join pages to one text, with paragraphs and words whole that a page, a column or a
    line breaks.

    :param pages: the blocks of each page.
    :return: the text, and the first line of each page, from 1.

    >>> join_pages([['# A', 'It is of corre-'], ['spondence.', 'It ends.']])
    ('# A\\n\\nIt is of correspondence.\\n\\nIt ends.', (1, 5))
    """
    joined: list[tuple[int, str]] = []
    for number, blocks in enumerate(pages):
        for block in filter(None, map(str.strip, blocks)):
            first, before = joined[-1] if joined else (0, '')
            if not _goes_on(before, block):
                joined.append((number, block))
            elif before.endswith('-'):
                joined[-1] = (first, before[:-1] + block)
            else:
                joined[-1] = (first, f'{before} {block}')
    line, starts = 1, [1] * len(pages)
    for (number, block), (following, _) in pairwise([*joined, (len(pages), '')]):
        line += block.count('\n') + 2
        for page in range(number + 1, min(following + 1, len(pages))):
            starts[page] = line
    text = '\n\n'.join(block for _, block in joined)
    text = _TWO_BULLETS.sub('- ', _BROKEN_WORD.sub('', text))
    return text, tuple(starts)


def _goes_on(before: str, block: str) -> bool:
    """Whether a block continues the paragraph before it."""
    if not before or _NOT_PROSE.match(before) or before[-1] in _END_MARKS:
        return False
    return block[0].islower() and not _ITEM.match(block)
