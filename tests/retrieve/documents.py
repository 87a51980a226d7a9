"""Small documents of every kind, made as their programs make them, and hostile ones."""

import zipfile
from pathlib import Path

import docx


def pdf(path: Path, *pages: str) -> Path:
    """A PDF file with a line of text on each page."""
    kids = ' '.join(f'{4 + 2 * n} 0 R' for n in range(len(pages)))
    objects = [
        '<< /Type /Catalog /Pages 2 0 R >>',
        f'<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>',
        '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ]
    for n, text in enumerate(pages):
        stream = f'BT /F1 12 Tf 50 700 Td ({text}) Tj ET'
        objects += [
            f'<< /Type /Page /Parent 2 0 R /Contents {5 + 2 * n} 0 R '
            '/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 600 800] >>',
            f'<< /Length {len(stream)} >>\nstream\n{stream}\nendstream',
        ]
    out, places = '%PDF-1.4\n', []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f'{number} 0 obj\n{one}\nendobj\n'
    table = ''.join(f'{place:010} 00000 n \n' for place in places)
    out += f'xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}'
    out += f'trailer << /Size {len(objects) + 1} /Root 1 0 R >>\n'
    out += f'startxref\n{out.index("xref")}\n%%EOF\n'
    path.write_bytes(out.encode('latin-1'))
    return path


def word(path: Path, *paragraphs: tuple[str, str]) -> Path:
    """A Word document of (style, text)."""
    document = docx.Document()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = 'Postage', 'four euros'
    document.save(str(path))
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
