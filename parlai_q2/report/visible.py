"""
Makes characters visible that would act instead of being seen.

A response is what a model wrote: it may hold escape sequences that recolour or retitle
a terminal, null bytes, or bidirectional overrides that show text in another order than
it has (CVE-2021-42574). They are shown as escapes like ``\\x1b`` and ``\\u202e``.
"""

import re
import unicodedata

# Control characters, lone surrogates, line and paragraph separators act; of the format
# characters (Cf) only those that reorder or hide: the joiners of emoji and of Persian
# or Indic scripts, and the number signs of Arabic, are part of ordinary text.
_ACTING = {'Cc', 'Cs', 'Zl', 'Zp'}
_HIDING = {0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFEFF}.union(
    range(0x202A, 0x202F), range(0x2060, 0x2070), range(0xFFF9, 0xFFFC)
)
# "Select graphic rendition": numbers, and nothing else.
_COLOUR = re.compile(r'(\x1b\[[0-9;]{0,20}m)')


def visible(text: str) -> str:
    """
    The text with control, bidirectional and lone surrogate characters as escapes.

    :param text: any text.
    :return: the text; line breaks and tabs are kept.
    """
    if text.isascii() and text.isprintable():
        return text
    return ''.join(map(_visible_character, text.replace('\r\n', '\n')))


def visible_but_colours(text: str) -> str:
    """
    As :func:`visible`, with the sequences that colour a terminal's text left alone.
    """
    parts = _COLOUR.split(text)
    parts[::2] = map(visible, parts[::2])
    return ''.join(parts)


def one_line(text: str) -> str:
    """
    As :func:`visible`, with every run of white space as one space.
    """
    return ' '.join(visible(text).split())


def _visible_character(character: str) -> str:
    if character in '\n\t':
        return character
    acts = unicodedata.category(character) in _ACTING or ord(character) in _HIDING
    return character.encode('unicode_escape').decode('ascii') if acts else character


def columns(text: str) -> int:
    """
    How many terminal columns a text takes: wide characters two, combining ones none.
    """
    if text.isascii():
        return len(text)
    return sum(map(_character_columns, text))


def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ('Mn', 'Me', 'Cf'):
        return 0
    return 2 if unicodedata.east_asian_width(character) in 'WF' else 1
