"""
Converts HTML and Word files to Markdown, which one reader reads.

Beautiful Soup and markdownify convert HTML, mammoth converts Word to HTML. Neither
runs, fetches or downloads anything. What the person who opens the file does not see
(scripts, hidden elements) is left out.
"""

import html
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parlai_q2.errors import DocumentError
from parlai_q2.retrieve.readers.block import clean
from parlai_q2.retrieve.readers.plain import read_utf8

_NOT_SHOWN = (
    'script, style, template, noscript, svg, math, object, iframe, nav, select, '
    'button, [hidden], [aria-hidden=true]'
)
_HIDING_STYLE = re.compile(r'display:none|visibility:hidden')
# A term of a list of definitions is the heading of what defines it.
_TERM = '######'

# What the parts of a Word file may unpack to together, and by what factor: Word's own
# files stay far below both. Small files do no harm.
MAX_UNPACKED = 500_000_000
MAX_PARTS = 10_000
MAX_RATIO, SMALL = 200, 10_000_000
# Also in UTF-16, where each character has a null byte.
_DECLARATION = re.compile(
    rb'<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)'
)
_CORE_TITLE = re.compile(r'<dc:title>([^<]*)</dc:title>')
_STYLE_MAP = '\n'.join(
    ["p[style-name='Title'] => h1:fresh"]
    + [f"p[style-name='Heading {n}'] => h{n + 1}:fresh" for n in range(1, 6)]
)


@dataclass(frozen=True)
class Markdown:
    """
    A document as Markdown.

    :param title: empty if it names none itself.
    :param page_starts: the first line of each page; none for a document without pages.
    :param is_source: whether its lines are those of the file.
    """

    text: str
    title: str = ''
    page_starts: tuple[int, ...] = ()
    is_source: bool = False


def load_markdown(path: Path) -> Markdown:
    """Read a file that is Markdown already."""
    return Markdown(read_utf8(path), is_source=True)


def convert_html(path: Path) -> Markdown:
    """
    Convert a page.

    :raises DocumentError: if it is not UTF-8 text.
    """
    return html_to_markdown(read_utf8(path))


def html_to_markdown(text: str) -> Markdown:
    """Convert HTML. Tables without header cells get blank ones."""
    from markdownify import MarkdownConverter

    class Converter(MarkdownConverter):
        def convert_dt(self, element: Any, text: str, parent_tags: Any) -> str:
            return f'\n\n{_TERM} {" ".join(text.split())}\n\n'

        def convert_dd(self, element: Any, text: str, parent_tags: Any) -> str:
            return f'\n\n{text.strip()}\n\n'

        def convert_dl(self, element: Any, text: str, parent_tags: Any) -> str:
            # A heading without a text closes the last term's.
            return f'{text}\n\n{_TERM}\n\n'

    soup = _parse_visible(text)
    title = soup.title.get_text() if soup.title else ''
    if soup.title:
        soup.title.extract()
    converter = Converter(heading_style='atx', escape_misc=True, bullets='-')
    markdown = converter.convert_soup(soup).replace('\xa0', ' ')
    return Markdown(markdown, ' '.join(title.split()))


def html_to_text(text: str) -> str:
    """The text that a piece of HTML shows."""
    return ' '.join(_parse_visible(text).get_text(' ').split())


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

    :raises DocumentError: if it is none, would unpack to too much (a zip bomb) or
        declares entities (an XML bomb, or a way to read other files).
    """
    import mammoth  # type: ignore[import-untyped]

    try:
        core = _check_parts(path)
        with open(path, 'rb') as stream:
            page = mammoth.convert_to_html(
                stream, style_map=_STYLE_MAP, convert_image=_describe_image
            ).value
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as e:
        raise DocumentError(path, f'it is no Word document ({e})') from e
    except (KeyError, ValueError, EOFError, AttributeError) as e:
        raise DocumentError(path, f'it is no Word document ({e})') from e
    title = _CORE_TITLE.search(core)
    return Markdown(
        html_to_markdown(page).text,
        ' '.join(clean(html.unescape(title[1])).split()) if title else '',
    )


def _describe_image(image: Any) -> list[Any]:
    from mammoth import html as elements

    return [elements.text(image.alt_text)] if image.alt_text else []


def _check_parts(path: Path) -> str:
    """Refuse dangerous parts, and return the one with the document's properties."""
    core = ''
    with zipfile.ZipFile(path) as parts:
        unpacked = sum(part.file_size for part in parts.infolist())
        packed = path.stat().st_size
        if len(parts.infolist()) > MAX_PARTS or unpacked > MAX_UNPACKED:
            raise DocumentError(path, f'it would unpack to {unpacked:,} bytes')
        if unpacked > SMALL and unpacked > MAX_RATIO * packed:
            raise DocumentError(
                path, f'its {packed:,} bytes would unpack to {unpacked:,}'
            )
        for part in parts.infolist():
            if not part.filename.lower().endswith(('.xml', '.rels')):
                continue
            content = parts.read(part)
            if _DECLARATION.search(content):
                raise DocumentError(
                    path, f'{part.filename} declares entities, as no Word does'
                )
            if part.filename == 'docProps/core.xml':
                core = content.decode('utf-8', 'replace')
    return core
