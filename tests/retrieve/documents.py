"""Small documents of every kind, made as their programs make them, and hostile ones."""

import zipfile
from collections.abc import Sequence
from html import escape
from pathlib import Path

Line = tuple[float, float, str]
BODY, SMALL, LARGE = 11, 8, 16


def pdf(path: Path, *pages: str | Sequence[Line]) -> Path:
    """
    A PDF file.

    :param pages: for each a line, or its lines with their places, in points from the
        left and the bottom. Those above 780 and below 40 are small, those above 740
        large.
    """
    kids = ' '.join(f'{4 + 2 * n} 0 R' for n in range(len(pages)))
    objects = [
        '<< /Type /Catalog /Pages 2 0 R >>',
        f'<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>',
        '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]
    for n, page in enumerate(pages):
        lines = [(50, 700, page)] if isinstance(page, str) else page
        stream = '\n'.join(_shown(*line) for line in lines)
        objects += [
            f'<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * n} 0 R '
            '/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 600 800] >>',
            f'<< /Length {len(stream)} >>\nstream\n{stream}\nendstream',
        ]
    out, places = '%PDF-1.4\n', []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f'{number} 0 obj\n{body}\nendobj\n'
    table = ''.join(f'{place:010} 00000 n \n' for place in places)
    out += f'xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}'
    out += f'trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n'
    out += f'startxref\n{out.index("xref")}\n%%EOF\n'
    path.write_bytes(out.encode('latin-1'))
    return path


def _shown(x: float, y: float, text: str) -> str:
    size = SMALL if y > 780 or y < 40 else LARGE if y > 740 else BODY
    return f'BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET'


def columns(
    path: Path, pages: Sequence[Sequence[Sequence[str]]], height: float = 13
) -> Path:
    """
    A PDF file with a running header and page numbers.

    :param pages: for each the lines of its two columns, which are written line by line
        across the page.
    """
    written = []
    for number, (left_column, right) in enumerate(pages, 1):
        lines: list[Line] = [(50, 785, 'Annual report'), (450, 785, 'Minutes')]
        for n in range(max(len(left_column), len(right))):
            for x, column in ((50, left_column), (320, right)):
                if n < len(column):
                    lines.append((x, 730 - height * n, column[n]))
        written.append([*lines, (300, 30, f'Page {number} of {len(pages)}')])
    return pdf(path, *written)


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_DOCUMENTS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
_PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
_STYLES = ('Title', 'Heading 1', 'Heading 2', 'Normal')


def word(path: Path, *paragraphs: tuple[str, str], title: str = '') -> Path:
    """A Word document of (style, text), and a table."""
    body = ''.join(
        f'<w:p><w:pPr><w:pStyle w:val="s{_STYLES.index(style)}"/></w:pPr>'
        f'<w:r><w:t>{escape(text)}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    cells = ''.join(
        f'<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>'
        for text in ('Postage', 'four euros')
    )
    styles = ''.join(
        f'<w:style w:type="paragraph" w:styleId="s{n}"><w:name w:val="{name}"/>'
        '</w:style>'
        for n, name in enumerate(_STYLES)
    )
    parts = {
        '[Content_Types].xml': f'<Types xmlns="{_PACKAGE}/content-types"/>',
        '_rels/.rels': f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship '
        f'Id="r1" Type="{_DOCUMENTS}/officeDocument" Target="word/document.xml"/>'
        '</Relationships>',
        'word/_rels/document.xml.rels': f'<Relationships xmlns="{_PACKAGE}/'
        f'relationships"><Relationship Id="r1" Type="{_DOCUMENTS}/styles" '
        'Target="styles.xml"/></Relationships>',
        'word/document.xml': f'<w:document {_W}><w:body>{body}<w:tbl><w:tr>{cells}'
        '</w:tr></w:tbl></w:body></w:document>',
        'word/styles.xml': f'<w:styles {_W}>{styles}</w:styles>',
        'docProps/core.xml': f'<x xmlns:dc="d"><dc:title>{escape(title)}</dc:title>'
        '</x>',
    }
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as written:
        for name, content in parts.items():
            written.writestr(name, content)
    return path


def with_part(source: Path, path: Path, name: str, content: bytes) -> Path:
    """A copy of a Word document with one part replaced."""
    with (
        zipfile.ZipFile(source) as old,
        zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as new,
    ):
        for part in old.infolist():
            new.writestr(part, content if part.filename == name else old.read(part))
    return path


LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">'
    + b''.join(
        b'<!ENTITY %c "%b">' % (98 + n, b'&%c;' % (97 + n) * 10) for n in range(9)
    )
    + b']><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/'
    b'main"><w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>'
)
