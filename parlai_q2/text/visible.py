"""
Shows as escapes the characters that would take effect: a response may have escape
sequences that recolour a terminal, null bytes, or bidirectional overrides, which show
text in another order than it has (CVE-2021-42574).
"""

import re
import unicodedata

from parlai_q2.turns import Source

# Escaped are control characters, lone surrogates, and line and paragraph separators. Of
# the format characters (Cf), only those that reorder or hide text are: the joiners of
# emoji and of Persian or Indic scripts, and the number signs of Arabic, are part of
# ordinary text.
_ACTING = {'Cc', 'Cs', 'Zl', 'Zp'}
_HIDING = {0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF}.union(
    range(0x202A, 0x202F), range(0x2060, 0x2070), range(0xFFF9, 0xFFFC)
)
# "Select graphic rendition": numbers, and nothing else.
_COLOUR = re.compile(r'(\x1b\[[0-9;]{0,20}m)')


def visible(text: str) -> str:
    """A text with such characters as escapes; line breaks and tabs are kept."""
    if text.isascii() and text.isprintable():
        return text
    return ''.join(map(_visible_character, text.replace('\r\n', '\n')))


def visible_but_colours(text: str) -> str:
    """Like :func:`visible`, but keep the sequences that colour a terminal's text."""
    parts = _COLOUR.split(text)
    parts[::2] = map(visible, parts[::2])
    return ''.join(parts)


def one_line(text: str) -> str:
    """Like :func:`visible`, with every run of white space replaced by one space."""
    return ' '.join(visible(text).split())


def source_line(source: Source | None) -> str:
    """
    A source in one line; empty for none.

    >>> source_line(Source('manual.md', 'Pumps > Warranty', 'lines 4-9'))
    'manual.md, Pumps > Warranty (lines 4-9)'
    """
    if source is None:
        return ''
    named = ', '.join(one_line(part) for part in (source.file, source.heading) if part)
    return f'{named} ({one_line(source.place)})' if source.place else named


def _visible_character(character: str) -> str:
    if character in '\n\t':
        return character
    acts = unicodedata.category(character) in _ACTING or ord(character) in _HIDING
    return character.encode('unicode_escape').decode('ascii') if acts else character
