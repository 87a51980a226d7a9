"""
Writes times, temperatures and amounts in one way where people write them in several:
"17:30" for "17.30", "180 °C" for "180C", "1 h 45 min" for "1h45m".
"""

import re
from collections.abc import Iterator

from parlai_q2.text.numerals import one_of
from parlai_q2.text.units import UNITS

_UNIT = one_of(sorted(UNITS, key=len, reverse=True))
# Behind a time, but not behind a number of something.
_NOT_COUNTED = (
    rf'(?= ?[ap]\.?m\b|(?![\d:]|[.,]\d| ?(?:{_UNIT})(?!\w)'
    r'| ?(?:each|an?|per|for|million|billion|points?|stars?|out of)\b))'
)
_TIME = r'(?:[01]?\d|2[0-4])\.[0-5]\d'
_BEFORE_TIME = (
    'at|by|until|till|before|after|around|about|arrives?|begins?|closes?|departs?|ends?'
    '|leaves?|opens?|starts?'
)
_DASH = r' ?(?:-|to|until|till) ?'
# "At 8.30", "9.00-17.30"; other numbers with two decimals may be prices.
_DOTTED = re.compile(
    rf'(?:\b(?:{_BEFORE_TIME}) {_TIME}(?:{_DASH}{_TIME})?'
    rf'|(?<![\w.,:$€£/-])(?<![$€£] ){_TIME}{_DASH}{_TIME}'
    rf'|\b(?:from|between) (?:{_TIME}(?:{_DASH}| and )\d{{1,2}}(?!\.\d)'
    rf'|\d{{1,2}}(?:{_DASH}| and ){_TIME}|{_TIME} and {_TIME})){_NOT_COUNTED}',
    re.IGNORECASE,
)
_POINT = re.compile(r'(?<=\d)\.(?=\d)')
_TIME_OF_DAY = re.compile(rf'(?:{_BEFORE_TIME}) |.*\.(?:00|15|30|45)', re.I | re.S)
_DEGREES = re.compile(
    r'\b(?:at|to|about|around|of|below|above|over|under|between|and|from) -?\d{1,3} ?'
    r'(?=[CF]\b(?!(?:[+#\'’/-]\w| [A-Z])))'
)
_HOURS_AND_MINUTES = re.compile(
    r'(?<![\w.])(\d{1,2}) ?h ?([0-5]?\d) ?m(?:ins?)?\b', re.IGNORECASE
)
_POUNDS_AND_PENCE = re.compile(
    r'(?<![\w.])(\d+) pounds?(?: and)? (\d\d?) ?(?:pence|p)\b', re.IGNORECASE
)


def find_notations(text: str) -> Iterator[tuple[int, int, str]]:
    """
    What a text writes otherwise: the start, the end and the usual form of each piece,
    in no order.

    >>> [*find_notations('Open 9.00-17.30. Bake at 180C.')]
    [(6, 7, ':'), (12, 13, ':'), (28, 28, ' °')]
    """
    if '.' in text:
        for match in _DOTTED.finditer(text):
            if not _TIME_OF_DAY.match(match[0]):
                continue  # "between 3.20 and 3.52"
            for point in _POINT.finditer(text, *match.span()):
                yield *point.span(), ':'
    if 'C' in text or 'F' in text:
        for match in _DEGREES.finditer(text):
            end = match.end()
            yield end, end, '°' if text[end - 1] == ' ' else ' °'
    for match in _HOURS_AND_MINUTES.finditer(text):
        yield *match.span(), f'{match[1]} h {match[2]} min'
    if 'pound' in text:
        for match in _POUNDS_AND_PENCE.finditer(text):
            yield *match.span(), f'£{match[1]}.{match[2]:>02}'
