"""
Wraps text that carries styles.

A styled text is a list of ``(text, style)`` runs; a style is a key of :data:`STYLES` or
None. Lines break at white space, and inside a word only if the word is longer than a
line. Colour adds escape codes and leaves the lines otherwise the same.
"""

import re
from itertools import groupby
from operator import itemgetter
from typing import Iterable, Optional, Sequence

from parlai_q2.report.visible import columns

Run = tuple[str, Optional[str]]

# SGR codes of ECMA-48. Bright black is not used, as it is invisible on some dark
# terminals.
STYLES = {
    'supported': '32',
    'unsupported': '33',
    'contradicted': '31',
    'generic': '35',
    'strong': '1',
    'faint': '2',
}


def paint(runs: Iterable[Run], colour: bool) -> str:
    """
    Render one line of styled text as a string.

    :param runs: the line's runs.
    :param colour: whether to add escape codes.
    """
    painted = []
    for style, same in groupby(runs, key=itemgetter(1)):
        text = ''.join(text for text, _ in same)
        code = STYLES[style] if colour and style else None
        painted.append(f'\x1b[{code}m{text}\x1b[0m' if code and text else text)
    return ''.join(painted)


def wrap(
    runs: Sequence[Run], width: int, colour: bool, first: str = '', rest: str = ''
) -> list[str]:
    """
    Break a styled text into lines.

    :param runs: the text; any white space in it, including line breaks, counts as a
        space.
    :param width: columns of a line, including its indent.
    :param colour: whether to add escape codes.
    :param first: the prefix of the first line.
    :param rest: the prefix of each further line.
    :return: the lines, without newlines; one line for an empty text.
    """
    return fill(words_of(runs), width, colour, first, rest)


def fill(
    words: Iterable[Sequence[Run]],
    width: int,
    colour: bool,
    first: str = '',
    rest: str = '',
) -> list[str]:
    """
    Put words into lines.

    :param words: words as lists of runs; they may have spaces, and are kept whole if
        they fit on a line.
    :param width: as for :func:`wrap`, like the other parameters.
    :return: the lines, without newlines; one line for no words.
    """
    lines: list[str] = []
    line: list[Run] = [(first, None)]
    indent = used = columns(first)
    for word in words:
        size = sum(columns(text) for text, _ in word)
        gap = 1 if used > indent else 0
        if gap and used + gap + size > width:
            lines.append(paint(line, colour).rstrip())
            line, indent, gap = [(rest, None)], columns(rest), 0
            used = indent
        if gap:
            # A space between two words of the same style has that style too, so that
            # the colour is not interrupted.
            line.append((' ', word[0][1] if line[-1][1] == word[0][1] else None))
        used += gap
        for text, style in word:
            head = _fit(text, width - used, used == indent)
            while head != text:
                lines.append(paint([*line, (head, style)], colour))
                line, indent = [(rest, None)], columns(rest)
                used, text = indent, text[len(head) :]
                head = _fit(text, width - used, True)
            line.append((text, style))
            used += columns(text)
    lines.append(paint(line, colour).rstrip())
    return lines


def words_of(runs: Iterable[Run]) -> list[list[Run]]:
    """
    The words of a styled text; the style may change within a word.
    """
    words: list[list[Run]] = []
    open_word = False
    for text, style in runs:
        for part in re.split(r'(\s+)', text):
            if not part:
                continue
            if part.isspace():
                open_word = False
            elif open_word:
                words[-1].append((part, style))
            else:
                words.append([(part, style)])
                open_word = True
    return words


def _fit(text: str, width: int, force: bool) -> str:
    """
    The longest prefix of a text that fits; with ``force``, at least one character.
    """
    used = 0
    for place, character in enumerate(text):
        used += columns(character)
        if used > width:
            return text[: max(place, int(force))]
    return text
