"""
Splits a text into sentences or windows of sentences, with offsets, by rules alone.
"""

import re
from collections.abc import Callable, Iterable

from parlai_q2.turns import Span

# A sentence ends at an end mark, closing quotes or brackets and white space, or at a
# line break.
_BOUNDARY = re.compile(r'[.!?]["\')\]]*\s+|\n+')
# A full stop after one of these does not end a sentence: an initial (except "i") or an
# abbreviation, also in tokenised text ("u . s .").
_ABBREVIATIONS = (
    'mr mrs ms dr prof rev gen sen gov sgt capt lt col st jr sr vs vol inc ltd co corp '
    'approx e.g i.e ca'
).split()
# These end a sentence unless a digit follows ("on Jan. 5", "No. 5"), or, of times, a
# word in lower case ("at 5 p.m. on Monday").
_BEFORE_DIGIT = re.compile(
    r'(?:^|[\s(])(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|nos?|ver|v|fig|art|'
    r'sec|ch|p|pp|para|ex|min|max|tel|ext)\.$',
    re.IGNORECASE,
)
_BEFORE_LOWER = re.compile(
    r'(?:^|[\s(\d])(?:[ap]\.m|etc|incl|excl|est|dept|ft|oz|lb)\.$', re.I
)
_NO_END = re.compile(
    rf"""(?:^|[\s.("'])(?:[a-hj-z]|{'|'.join(map(re.escape, _ABBREVIATIONS))})\s*\.$""",
    re.IGNORECASE,
)
# But a time or a measure ends one before a capital, unless it begins a day ("at 5 p.m.
# Monday"), a date or a time zone.
_MEASURE = re.compile(r'\d\s?(?:[ap]\.m|[ghlm])\.$', re.IGNORECASE)
_BEGINNING = re.compile(
    r'(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|[A-Z][a-z]{2,8}\.? \d|'
    r'(?:Eastern|Central|Mountain|Pacific|[A-Z]{2,4})\b|\w+ [Tt]ime\b)'
    r"""['"(]?[A-Z]"""
)
# How those of three letters and more end.
_ENDS = frozenset(word[-3:] for word in _ABBREVIATIONS if len(word) > 2)
# Longer sentences are cut, so that whatever is found can be read at once.
LONGEST = 60
# Longer words, as in scripts without spaces, count as several and can be cut.
_LONGEST_WORD = 40
_WORD = re.compile(rf'\S{{1,{_LONGEST_WORD}}}')


def count_words(text: str) -> int:
    """The number of words of a text, long ones counted as several."""
    words = text.split()
    if max(map(len, words), default=0) <= _LONGEST_WORD:
        return len(words)
    return sum(1 + (len(word) - 1) // _LONGEST_WORD for word in words)


def is_short(text: str, max_words: int) -> bool:
    """Whether a text has at most so many words, long ones counted as several."""
    # A word and the space behind it are two characters.
    return len(text) < 2 * max_words or count_words(text) <= max_words


def sentences(text: str) -> list[Span]:
    """
    The sentences of a text in order, without surrounding white space; none for a blank
    text.
    """
    boundaries = _BOUNDARY.finditer(text)
    # Closing quotes belong to the sentence they close.
    stops = [match.end() for match in boundaries if not _goes_on(text, match)]
    spans = []
    start = 0
    for stop in (*stops, len(text)):
        if stripped := text[start:stop].strip():
            first = text.index(stripped, start)
            spans.append(Span(stripped, first, first + len(stripped)))
        start = stop
    return spans


def _goes_on(text: str, boundary: re.Match[str]) -> bool:
    # Most marks are decided at a glance.
    if text[boundary.start()] != '.' or '\n' in boundary.group():
        return False
    start = boundary.start() + 1
    after = text[boundary.end() : boundary.end() + 1]
    before = text[max(0, start - 16) : start]
    if after.isdigit() and _BEFORE_DIGIT.search(before):
        return True
    if after.islower() and _BEFORE_LOWER.search(before):
        return True
    end = before[:-1].rstrip()[-3:]
    if len(end) == 3 and end.isalpha() and end.lower() not in _ENDS:
        return False
    if _MEASURE.search(before) and _BEGINNING.match(text, boundary.end()):
        return False
    # "7 . 8" is a number in tokenised text.
    number = after.isdigit() and re.search(r'\d\s+\.$', before)
    return bool(number or _NO_END.search(before))


def may_go_on(sentence: str, after: str) -> bool:
    """
    Whether a sentence of a growing text may turn out to go on: what is there after "at
    5 p.m." is too short to tell.
    """
    return bool(_MEASURE.search(sentence)) and len(after.split()) < 3


def pieces(text: str, max_words: int = LONGEST) -> list[Span]:
    """The sentences of a text, those of more than ``max_words`` words cut."""
    return [
        piece
        for sentence in sentences(text)
        for piece in cut_sentence(sentence, max_words)
    ]


def cut_sentence(sentence: Span, max_words: int) -> list[Span]:
    """A sentence, cut between words if it has more than ``max_words`` of them."""
    if is_short(sentence.text, max_words):
        return [sentence]
    words = list(_WORD.finditer(sentence.text))
    spans = []
    for i in range(0, len(words), max_words):
        part = words[i : i + max_words]
        start, end = part[0].start(), part[-1].end()
        text = sentence.text[start:end]
        spans.append(Span(text, sentence.start + start, sentence.start + end))
    return spans


def cut_to_fit(texts: Iterable[str], fits: Callable[[str], bool]) -> list[str]:
    """
    Texts, each that does not fit halved at the end of a sentence or of a word until its
    parts do. A single word is left as it is.

    >>> cut_to_fit(['It is old. It is red.'], lambda text: len(text) < 12)
    ['It is old.', 'It is red.']
    """
    parts, pending = [], [*texts][::-1]
    while pending:
        text = pending.pop()
        words = count_words(text)
        if words < 2 or fits(text):
            parts.append(text)
        else:
            pending += [part.text for part in windows(text, (words + 1) // 2)][::-1]
    return parts


def windows(text: str, max_words: int) -> list[Span]:
    """
    Pack consecutive sentences into windows of at most ``max_words`` words.

    A sentence that is longer than a window is split between words.

    :param max_words: at least 1.
    :return: spans, in order, that cover every word once.
    """
    packed: list[Span] = []
    count = 0
    for piece in pieces(text, max_words):
        size = count_words(piece.text)
        if packed and count + size <= max_words:
            start = packed[-1].start
            packed[-1] = Span(text[start : piece.end], start, piece.end)
            count += size
        else:
            packed.append(piece)
            count = size
    return packed
