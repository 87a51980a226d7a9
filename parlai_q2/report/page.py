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

# What would end or confuse a script element, or a line of a script.
_JSON_ESCAPES = {ord(c): f'\\u{ord(c):04x}' for c in '<>&\u2028\u2029'}


def fill_page(
    template: str,
    styles: Sequence[str],
    scripts: Sequence[str],
    values: Mapping[str, str],
) -> str:
    """
    A page as a string.

    :param template: a file of this package. ``{{name}}`` in it stands for a value;
        ``style``, ``script``, ``style_hash`` and ``script_hash`` are given besides.
    :param styles: files of this package, which become one style.
    :param scripts: files of this package, in the order in which they build on each
        other; they become one script.
    :param values: HTML by name.
    """
    style, script = ('\n'.join(map(_resource, files)) for files in (styles, scripts))
    return _fill(
        _resource(template),
        {
            'style': style,
            'script': script,
            'style_hash': _hash(style),
            'script_hash': _hash(script),
            **values,
        },
    )


def embed(data: Any) -> str:
    """
    Data as JSON that may stand inside a script element.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
    return text.translate(_JSON_ESCAPES)


def _resource(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding='utf-8')


def _fill(template: str, values: Mapping[str, str]) -> str:
    """
    Fill ``{{name}}`` in one pass, so that nothing inside a value is filled again.
    """
    return re.sub(r'\{\{(\w+)\}\}', lambda match: values[match[1]], template)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode('utf-8')).digest()
    return f'sha256-{base64.b64encode(digest).decode("ascii")}'
