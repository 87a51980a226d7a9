"""
Fills a page template with styles, scripts and data, so that the page loads nothing.

The page's content security policy allows its style and its script by their hashes.
Nothing in a response can therefore run, wherever it ends up in the page.
"""

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any, Mapping, Sequence

# The frame of all pages, and the table of those pages that list responses.
LAYOUT, TABLE = 'layout.html', 'table.html'
# The scripts of that table, each after those that it builds on.
TABLE_SCRIPTS = ('address.js', 'print.js', 'table.js')
# What would end or confuse a script element, or a line of a script.
_JSON_ESCAPES = {ord(c): f'\\u{ord(c):04x}' for c in '<>&\u2028\u2029'}


def fill_page(
    template: str,
    kind: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    values: Mapping[str, str],
    connect: str = '',
) -> str:
    """
    Build a page from its template.

    :param template: the page's body, a file of this package. ``{{name}}`` in it is
        replaced by a value. ``layout.html`` goes around every body.
    :param kind: a name that the page's styles can select by.
    :param styles: files of this package, which become one style.
    :param scripts: files of this package, each after those that it builds on; they
        become one script.
    :param values: HTML by name, including ``title``.
    :param connect: what the page may connect to, in the syntax of the content security
        policy; empty for nothing.
    :return: the page as HTML.
    """
    style, script = ('\n'.join(map(resource, files)) for files in (styles, scripts))
    return _fill(
        resource(LAYOUT),
        {
            'title': values['title'],
            'kind': kind,
            'connect': f'connect-src {connect}; ' if connect else '',
            'style': style,
            'script': script,
            'style_hash': _hash(style),
            'script_hash': _hash(script),
            'body': _fill(resource(template), values),
        },
    )


def embed(data: Any) -> str:
    """
    Data as JSON that is safe inside a script element.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
    return text.translate(_JSON_ESCAPES)


def resource(name: str) -> str:
    """
    The text of a file of this package.
    """
    return resources.files(__package__).joinpath(name).read_text(encoding='utf-8')


def _fill(template: str, values: Mapping[str, str]) -> str:
    """
    Replace each ``{{name}}`` in one pass, so that nothing inside a value is replaced.
    """
    return re.sub(r'\{\{(\w+)\}\}', lambda match: values[match[1]], template)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode('utf-8')).digest()
    return f'sha256-{base64.b64encode(digest).decode("ascii")}'
