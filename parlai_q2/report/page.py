"""
Fills a page with its own styles, scripts and data, so that it loads nothing.

The page's content security policy names its style and its script by hash. What a
response says can therefore not run, wherever it ends up in the page.
"""

import base64
import hashlib
import json
import re
from importlib import resources
from typing import Any, Mapping, Sequence

# What all pages have around their bodies, and what those with responses have in them.
LAYOUT, TABLE = 'layout.html', 'table.html'
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
    A page as a string.

    :param template: the page's body, a file of this package. ``{{name}}`` in it stands
        for a value; ``layout.html`` is what all pages have around it.
    :param kind: a name for the page's styles to go by.
    :param styles: files of this package, which become one style.
    :param scripts: files of this package, in the order in which they build on each
        other; they become one script.
    :param values: HTML by name, ``title`` among them.
    :param connect: what the content security policy lets the page talk to, as the
        policy writes it; empty for nothing.
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
    Data as JSON that may stand inside a script element.
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
    Fill ``{{name}}`` in one pass, so that nothing inside a value is filled again.
    """
    return re.sub(r'\{\{(\w+)\}\}', lambda match: values[match[1]], template)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode('utf-8')).digest()
    return f'sha256-{base64.b64encode(digest).decode("ascii")}'
