"""The words around an amount that make it a bound or a rough one: "up to 5 days"."""

import re
from typing import NamedTuple

from parlai_q2.text.numerals import NUMBER_WORD

# Words before an amount that say it is not exact, and those that say it is a bound.
_ROUGH = re.compile(
    r'(?:about|around|roughly|approximately|some|almost|nearly|circa|ca\.?|just over|'
    r'just under|a bit over|a little over|close to|or so|~) ?$',
    re.IGNORECASE,
)
_ABOVE = re.compile(
    r'(?<!just )(?<!bit )(?<!little )'
    r'(?:more than|over|above|upwards of|exceeding|>) ?$',
    re.IGNORECASE,
)
_BELOW = re.compile(
    r'(?<!just )(?:less than|fewer than|under|below|<) ?$', re.IGNORECASE
)
_LEAST = re.compile(
    r'(?:at least|a minimum of|minimum(?: \w+)? is|starts? (?:at|from)'
    r'|no (?:less|fewer) than|from|≥|>=) ?$',
    re.IGNORECASE,
)
_MOST = re.compile(
    r'(?:at most|a maximum of|maximum(?: \w+)? is|no more than|up to|until|≤|<=) ?$',
    re.IGNORECASE,
)
# How these end: most amounts have none.
_ENDS = tuple(
    'about around roughly approximately some almost nearly circa ca ca. over under to '
    'so ~ than above of exceeding > below is at < least from >= most until <='.split()
)
# Behind a bound, the words after an amount may be of the next: "over 5 and under 12".
_NEXT = re.compile(rf' (?:than )?(?:[\d$€£¥]|(?:{NUMBER_WORD})\b)', re.IGNORECASE)
_OR_MORE = re.compile(
    r'\+|(?: \w+)? (?:(?:or|and) (?:more|older|over|above|higher)|at (?:the )?least)\b'
)
_OR_LESS = re.compile(
    r'(?: \w+)? (?:(?:or|and) (?:less|fewer|younger|under|below)'
    r'|at (?:the )?most|tops)\b'
)


class Qualifier(NamedTuple):
    """
    What the words around an amount say of it.

    :param bound: 1 if it is at least, or more than, the amount; -1 if less; else 0.
    :param is_limit: whether the bound is a limit itself, as in "at most 5"; "more than
        5" may tell of any value above.
    :param rough: whether it is rounded.
    :param before: the characters before the amount that say so, and ``after``.
    """

    bound: int
    is_limit: bool
    rough: bool
    before: int
    after: int


def read_qualifier(before: str, after: str) -> Qualifier:
    """
    Read the words around an amount.

    >>> read_qualifier('It takes up to ', ' days.')
    Qualifier(bound=-1, is_limit=True, rough=False, before=6, after=0)
    """
    above = below = least = most = rough = None
    if not before.isascii() or before.lower().rstrip().endswith(_ENDS):
        above, below = _ABOVE.search(before), _BELOW.search(before)
        least, most = _LEAST.search(before), _MOST.search(before)
        rough = _ROUGH.search(before)
    or_more, or_less = _OR_MORE.match(after), _OR_LESS.match(after)
    suffix = or_more or or_less
    has_bound = bool(above or below or least or most)
    if suffix and has_bound and _NEXT.match(after, suffix.end()):
        or_more = or_less = suffix = None
    words = [match for match in (above, below, least, most, rough) if match]
    return Qualifier(
        bound=bool(above or least or or_more) - bool(below or most or or_less),
        is_limit=bool(least or most or suffix),
        rough=bool(rough),
        before=max((len(match[0]) for match in words), default=0),
        after=len(suffix[0]) if suffix else 0,
    )
