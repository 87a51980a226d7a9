"""
Prepares texts for scorers: characters that mean the same become equal, and the markup
of chat replies (lists, headings, emphasis, citations) goes. Records are read as
sentences (:mod:`parlai_q2.text.records`). A prepared text knows where each of its
characters stands in the original.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from parlai_q2.text.links import (
    ANCHOR,
    MARKDOWN_LINK,
    as_markdown,
    show_contact,
    show_target,
)
from parlai_q2.text.notation import find_notations
from parlai_q2.text.records import has_records, read_records
from parlai_q2.text.schedules import find_day_sentences
from parlai_q2.turns import Span

_NOT_ASCII = re.compile(r'[^\x00-\x7f]')
# Characters that mean the same as others; superscripts stay, as 10² is not 102.
_SAME = {
    **dict.fromkeys('‘’‚‛ʼ′´', "'"),
    **dict.fromkeys('“”„‟«»″', '"'),
    **dict.fromkeys('‐‑‒–−', '-'),
    '…': '...',
    **dict.fromkeys('\u00ad\u200b\u2060\ufeff', ''),
    **dict(zip('₀₁₂₃₄₅₆₇₈₉', '0123456789', strict=True)),
}
_SUPERSCRIPTS = str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹')
# Of a heading, so many words without a number claim nothing.
MAX_HEADING_WORDS = 4
_TAGS = 'a|b|i|u|em|strong|code|span|font|small|mark|sub|div|p|ul|ol|li|br|h[1-6]'
_LINE_TAGS = ('p', 'li', 'br', 'div', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6')
_ORDINALS = ('first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh')

# A terminal's code for a colour or the like.
_COLOUR = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]')
_SUPERSCRIPT = re.compile(r'<sup>(\d{1,3})</sup>', re.I)
_TAG = re.compile(rf'</?({_TAGS})\b[^<>\n]{{0,300}}>', re.I)
# A line break inside a sentence: the next line, or one of those after it, goes on in
# small letters to the end of the sentence. (An item of a list has no end, or a mark.)
_GOES_ON = r'(?:a[ \t]|[a-z]{2,}\b(?!\)))[^.!?:\n]{0,200}'
_WRAPPED = re.compile(
    rf'(?<=[\w,)"\'-])[ \t\r]*\n[ \t]*(?={_GOES_ON}(?:\n[ \t]*{_GOES_ON}){{0,4}}[.!?])'
)
# A line that ends with one of these words goes on in the next one; with one of the
# second group only in small letters or a number ("log in" may end a line).
_OPEN_WORDS = frozenset(
    'a an the and or of our your their its between per than'.split()
)
_MAYBE_OPEN_WORDS = frozenset(
    'in on at to for with by from into is are was were be not'.split()
)
_LONGEST_OPEN_WORD = 8
_LINE_BREAK = re.compile(
    r'(?<=[a-z])[ \t\r]*\n[ \t]*(?!\(?(?:\d{1,2}|[a-h])[.)][ \t])(?=[^\W_]|["\'(])'
)
_SHORT_YEARS = re.compile(
    # "2009-11" may be a month.
    r'(?<![\w.,/-])(?<!\d )((?:1[5-9]|20)\d\d)-(1[3-9]|[2-9]\d)'
    r'(?![\w-]|[.,/]\d)'
)
_FENCE = re.compile(r'^[ \t]*```.*$', re.M)
_HEADING = re.compile(r'^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*$', re.M)
_BULLET = re.compile(r'^[ \t]*(?:>[ \t]*)*[-*+•·◦▪‣][ \t]+', re.M)
_LEAD_IN = re.compile(
    r'^\W*(?:here (?:it is|they are|you go|is|are)\b[^.!?\n]{0,60}|sure|certainly|'
    r'of course|answer|the answer|summary)[ \t]*[:!][ \t]*$(?=\s*\S)',
    re.I | re.M,
)
_EMPHASIS = re.compile(
    r'(\*\*\*|\*\*|__|~~|\*|`)(?=[^\s*_`~])([^\n*`]{1,400}?)(?<=[^\s*_`~])\1(?![\w*])'
)
_CITATION = re.compile(
    r'[ \t]?\[\^?\d{1,3}(?:[ \t]?[,–-][ \t]?\d{1,3})*\](?!\()|'
    r'[ \t]?\[citation needed\]|'
    r'【[^【】\n]{1,40}】'
)
# The number or letter of an item, at the start of a line or behind a sentence.
_ITEM = re.compile(
    r'(?:(?<![^\n])|(?<=[.!?:;\])][ \t])|(?<=[\w,][ \t])(?=\(?(?:\d{1,2}|[a-h])\)))'
    r'[ \t]*'
    r'\(?(?:(?P<number>\d{1,2})|(?P<letter>[a-h]))[.)][ \t]+(?=\S)'
)
# The number of an item at the start of a line, where no second item follows.
_SINGLE_ITEM = re.compile(r'^[ \t]*(?:\(?1[.)]|[Ss]tep 1:)[ \t]+(?=[A-Z])', re.M)
# What any first and any second item has.
_FIRST_MARKS = (('1.', '1)', 'a.', 'a)'), ('2.', '2)', 'b.', 'b)'))
_ORDINAL = re.compile(
    rf'(?:(?<![^\n])|(?<=[.!?:;][ \t\n]))(?P<word>{"|".join(_ORDINALS)})(?:ly)?,[ \t]+',
    re.I,
)


class PreparedText(NamedTuple):
    """
    A text for scorers, and where it stands in the original.

    :param text: the prepared text.
    :param original: the text as it was given.
    :param places: for each character of ``text`` the index of the one in the original
        that it was made of.
    """

    text: str
    original: str
    places: Sequence[int]

    def locate(self, span: Span) -> Span:
        """The span of the original that a span of the prepared text was made of."""
        if not span.text:
            return span
        start, end = self.places[span.start], self.places[span.end - 1] + 1
        return Span(self.original[start:end], start, max(start, end))

    def rewrite(self, text: str, places: Sequence[int]) -> 'PreparedText':
        """Another text, whose characters were made of those at some places of this."""
        origins = [self.places[place] for place in places]
        return PreparedText(text, self.original, origins)

    def replace(
        self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str | None]
    ) -> 'PreparedText':
        """
        The text with matches of a pattern replaced.

        :param new: the text that replaces a match; None keeps it.
        """
        return self.edit(
            [
                (m.start(), m.end(), text)
                for m in pattern.finditer(self.text)
                if (text := new(m)) is not None
            ]
        )

    def edit(self, edits: Sequence[tuple[int, int, str]]) -> 'PreparedText':
        """
        The text with some pieces replaced.

        :param edits: the start and the end of each piece and its new text, in order.
        """
        if not edits:
            return self
        old = self.places
        parts: list[str] = []
        places: list[int] = []
        end_of_last = 0
        for start, end, new in edits:
            parts += [self.text[end_of_last:start], new]
            places += old[end_of_last:start]
            places += _spread(self.text[start:end], new, old, start, end)
            end_of_last = end
        parts.append(self.text[end_of_last:])
        places += old[end_of_last:]
        return PreparedText(''.join(parts), self.original, places)


def _spread(
    piece: str, new: str, old: Sequence[int], start: int, end: int
) -> list[int]:
    """The places of a replacement: where the piece has it, or the piece's two ends."""
    at = piece.find(new) if new else -1
    if at >= 0:
        return list(old[start + at : start + at + len(new)])
    place = old[start] if start < len(old) else (old[-1] if old else 0)
    places = [place] * len(new)
    if len(new) > 1:
        places[-1] = old[end - 1]
    return places


@lru_cache(maxsize=256)
def prepare(text: str) -> PreparedText:
    """
    A response as scorers read it.

    >>> prepare('It’s **red** [1].').text
    "It's red."
    """
    prepared = _remove_layout(_join_lines(_write_plainly(text)))
    prepared = _remove_item_marks(prepared)
    if '1' in prepared.text:
        prepared = prepared.replace(_SINGLE_ITEM, lambda m: '')
    return _remove_emphasis(prepared)


@lru_cache(maxsize=256)
def prepare_passage(text: str, with_days: bool = False) -> PreparedText:
    """
    A passage as scorers read it: as a response, but with its headings, and with records
    as sentences.

    :param with_days: add a sentence for each day of a schedule.

    >>> prepare_passage('R-12\\nowner: Bea Okoye\\nstate: closed').text.splitlines()[0]
    'The owner of R-12 is Bea Okoye.'
    """
    plain = prepared = _write_plainly(text)
    if records := read_records(prepared.text):
        prepared = prepared.rewrite(*records)
    if has_records(prepared.text):
        prepared = _remove_emphasis(prepared)
    else:
        prepared = _join_lines(prepared).replace(_HEADING, lambda m: m[1])
        prepared = _remove_emphasis(
            _remove_item_marks(_remove_marks(prepared, show_contact))
        )
    return _add_days(prepared, plain) if with_days else prepared


def _add_days(prepared: PreparedText, plain: PreparedText) -> PreparedText:
    """A passage with a sentence for each day of its schedules."""
    found, places = find_day_sentences(prepared.text), prepared.places
    if has_records(prepared.text):
        # In a table, days and hours may stand in two columns.
        of_table = find_day_sentences(plain.text)
        if len(of_table) > len(found):
            found, places = of_table, plain.places
    text, all_places = prepared.text, list(prepared.places)
    for sentence in found:
        text += f'\n{sentence.text}'
        first, last = places[sentence.start], places[sentence.end - 1]
        all_places += [first] * len(sentence.text) + [last]
    return PreparedText(text, prepared.original, all_places)


def _write_plainly(text: str) -> PreparedText:
    """A text with characters as they are usual, and without tags."""
    prepared = PreparedText(text, text, range(len(text)))
    if '\x1b' in text:
        prepared = prepared.replace(_COLOUR, lambda m: '')
    if not text.isascii():
        prepared = prepared.replace(_NOT_ASCII, lambda m: _plain_character(m[0]))
    if '-' in prepared.text:
        prepared = prepared.replace(_SHORT_YEARS, _complete_years)
    prepared = prepared.edit(sorted(find_notations(prepared.text)))
    if '<' not in prepared.text:
        return prepared
    prepared = prepared.replace(ANCHOR, as_markdown)
    prepared = prepared.replace(_SUPERSCRIPT, lambda m: m[1].translate(_SUPERSCRIPTS))
    return prepared.replace(_TAG, lambda m: '\n' if m[1].lower() in _LINE_TAGS else '')


def _complete_years(match: re.Match[str]) -> str | None:
    """The years of "1939-45" in full."""
    first, last = match.groups()
    return f'{first}-{first[:2]}{last}' if last > first[2:] else None


@lru_cache(maxsize=4096)
def _plain_character(char: str) -> str | None:
    """What means the same as a character; None if it stays."""
    if char in _SAME:
        return _SAME[char]
    name = unicodedata.name(char, '')
    if 'LIGATURE' in name or 'FULLWIDTH' in name or 'MATHEMATICAL' in name:
        plain = unicodedata.normalize('NFKC', char)
        return None if plain == char else plain
    return ' ' if unicodedata.category(char) == 'Zs' else None


def _join_lines(prepared: PreparedText) -> PreparedText:
    """Makes spaces of the line breaks inside sentences."""

    def join(match: re.Match[str]) -> str | None:
        text = match.string
        line = text[text.rfind('\n', 0, match.start()) + 1 : match.start()]
        return None if line.lstrip().startswith('#') else ' '

    def join_open(match: re.Match[str]) -> str | None:
        text, place = match.string, match.start()
        words = text[max(0, place - _LONGEST_OPEN_WORD) : place].split()
        following = text[match.end()]
        is_open = words[-1] in _OPEN_WORDS or (
            words[-1] in _MAYBE_OPEN_WORDS and not following.isupper()
        )
        return join(match) if is_open else None

    if '\n' not in prepared.text:
        return prepared
    return prepared.replace(_WRAPPED, join).replace(_LINE_BREAK, join_open)


def _remove_layout(prepared: PreparedText) -> PreparedText:
    """Removes fences, headings and lead-ins that claim nothing, and other marks."""
    text = prepared.text
    if '```' in text:
        prepared = prepared.replace(_FENCE, lambda m: '')
    if '#' in text:
        prepared = prepared.replace(_HEADING, _strip_heading)
    if ':' in text or '!' in text:
        prepared = prepared.replace(_LEAD_IN, lambda m: '')
    return _remove_marks(prepared, show_target)


def _remove_marks(
    prepared: PreparedText, show: Callable[[re.Match[str]], str]
) -> PreparedText:
    """Removes bullets and citations, and shows links in a way."""
    text = prepared.text
    if '\n' in text or _BULLET.match(text):
        prepared = prepared.replace(_BULLET, lambda m: '')
    if '[' in text or '【' in text:
        prepared = prepared.replace(_CITATION, lambda m: '')
        prepared = prepared.replace(MARKDOWN_LINK, show)
    return prepared


def _strip_heading(match: re.Match[str]) -> str:
    words = match[1].split()
    claims = len(words) > MAX_HEADING_WORDS or any(c.isdigit() for c in match[1])
    return match[1] if claims else ''


def _remove_item_marks(prepared: PreparedText) -> PreparedText:
    """Removes "1." and "b)" of lists, and "First," where "Second," follows."""
    if not _may_enumerate(prepared.text):
        return prepared
    items = list(_ITEM.finditer(prepared.text))
    numbers = [
        (int(m['number']) if m['number'] else ord(m['letter']) - 96) for m in items
    ]
    marks = _in_sequence(items, numbers)
    ordinals = list(_ORDINAL.finditer(prepared.text))
    order = [1 + _ORDINALS.index(m['word'].casefold()) for m in ordinals]
    marks += _in_sequence(ordinals, order)
    marks.sort(key=lambda m: m.start())
    return prepared.edit([(m.start(), m.end(), '') for m in marks])


def _may_enumerate(text: str) -> bool:
    """Whether a text has the marks of a first and a second item."""
    if not text.isascii():
        return True
    lowered = text.lower()
    return ('first' in lowered and 'second' in lowered) or all(
        any(mark in text for mark in marks) for marks in _FIRST_MARKS
    )


def _in_sequence(
    matches: Sequence[re.Match[str]], numbers: Sequence[int]
) -> list[re.Match[str]]:
    """The matches of counts from 1 to at least 2."""
    runs: list[list[re.Match[str]]] = []
    expected = 0
    for match, number in zip(matches, numbers, strict=True):
        if number == 1:
            runs.append([match])
            expected = 2
        elif runs and number == expected:
            runs[-1].append(match)
            expected += 1
    return [match for run in runs if len(run) > 1 for match in run]


def _remove_emphasis(prepared: PreparedText) -> PreparedText:
    if not any(mark in prepared.text for mark in '*_`~'):
        return prepared
    for _ in range(2):  # bold within italics
        prepared = prepared.replace(_EMPHASIS, lambda m: m[2])
    return prepared


def has_words(text: str) -> bool:
    """
    Whether a text has something to judge: two different letters or digits in a row, a
    digit, or several different letters.

    >>> has_words(':)'), has_words('a a a'), has_words('5')
    (False, False, True)
    """
    characters = set()
    for char in text:
        if char.isdigit():
            return True
        if char.isalnum():
            characters.add(char.lower())
            if len(characters) > 1:
                return True
    return False
