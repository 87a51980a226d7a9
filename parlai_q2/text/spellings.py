"""
Puts what a response only writes otherwise as its knowledge has it: dates ("31.05.2025"
for "31 May 2025"), telephone numbers, links, "1 onion" for "one chopped onion", "24/7"
for "around the clock", "World War 2" for "World War II". Another date, number or link
stays as it is. "9 in the evening" becomes "9 pm", and "until nine" "until 9:00".

Amounts are restated sentence by sentence (:func:`parlai_q2.text.restate.restate`).
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

from parlai_q2.text.addresses import (
    TELEPHONE,
    bare_link,
    find_addresses,
    read_telephone,
)
from parlai_q2.text.amounts import HOUR, find_amounts
from parlai_q2.text.links import SHOWN_TARGET, URL
from parlai_q2.text.numerals import parse_number
from parlai_q2.text.prepare import PreparedText
from parlai_q2.text.selection import FUNCTION_WORDS
from parlai_q2.text.units import CLOCK

NO_LINKS: Mapping[str, str] = {}
_MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split()
_MONTH = (
    r'(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|'
    r'Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?'
)
_TH = r'(?:st|nd|rd|th)?'
_DATE = re.compile(
    r'(?<![\w./-])(?:(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)'
    r'|(?P<dotted>\d{1,2}\. ?\d{1,2}\. ?)(?P<dotted_year>\d{4})'
    r'|(?P<slashed>\d{1,2}/\d{1,2}/)(?P<slashed_year>\d{4})'
    rf'|(?:(?P<day_before>\d{{1,2}}){_TH}(?: of)? (?P<month_after>{_MONTH})'
    rf'|(?P<month_before>{_MONTH}) (?P<day_after>\d{{1,2}}){_TH}\b)'
    r'(?:,? (?P<plain_year>\d{4}))?)(?![\w/-])',
    re.IGNORECASE,
)
_LINK = re.compile(
    r'(?<![\w@./-])(?:https?://)?[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b'
    r'(?:/[^\s<>"\')\]]*)?(?<![.,:;!?])',
    re.IGNORECASE,
)
# What texts without a date, a number or a link have not.
_DIGIT = re.compile(r'\d')
_LONG_NUMBER = re.compile(r'\d[ ()./-]{0,2}\d')
_DOMAIN = re.compile(r'\.[a-z]{2}', re.IGNORECASE)
_ONE = re.compile(r'(?<![\w.,:/-])1 (?P<noun>[a-z]{3,})\b(?!-)')
_NUMBERED = re.compile(
    r'\b(?:building|bus|chapter|class|day|exercise|exit|figure|floor|gate|grade|group'
    r'|hall|level|line|lot|model|number|no\.|option|page|part|phase|plan|platform|question'
    r'|room|route|row|seat|section|size|stage|step|table|terminal|track|tram|type|unit'
    r'|version|volume|ward|week|year|zone)s? $',
    re.IGNORECASE,
)
_ROMAN = ('I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX', 'X', 'XI', 'XII')
# Names before "I" as a number; other words may stand before the pronoun.
_FIRST_ONES = frozenset('WW War Part Type Phase Book Act Volume Chapter'.split())
# A name with a number, "Part 2", or one of the world wars.
_NUMBERED_NAME = re.compile(
    r'\b(?:(?:World )?(?P<name>WW|[A-Z][a-z]+) ?'
    r'(?P<number>[IVX]{1,4}|(?<= )\d{1,2}|(?<=WW)[12])'
    r'|(?P<ordinal>First|Second) World War)(?![\w.,:/%-]\w|\w)'
)
_HOUR = re.compile(
    rf'\b(?P<before>at|by|from|to|until|till) (?P<hour>{HOUR})(?P<minute>:\d\d)?'
    r"(?: o'clock)? (?:in the (?P<part>morning|afternoon|evening)|at night)\b",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    rf"\b(?P<before>until|till) (?P<hour>{HOUR})(?: o'clock)?"
    r'(?=[.,;!?)](?!\d)|$| (?:on|at|every|during)\b)',
    re.IGNORECASE,
)
_ALWAYS = re.compile(r'\b(?:24/7|a?round the clock|24 hours a day)\b', re.IGNORECASE)
_SOME_DAYS = re.compile(
    r'\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|week-?(?:days?|ends?))\b',
    re.IGNORECASE,
)


def respell(
    response: PreparedText, knowledge: str, links: Mapping[str, str] = NO_LINKS
) -> PreparedText:
    """
    A response with what it only writes otherwise as the knowledge has it.

    :param links: what the knowledge's links show, by their targets
        (:func:`~parlai_q2.text.links.find_links`).

    >>> from parlai_q2.text.prepare import prepare
    >>> response = prepare('Until 2025-05-31, see https://a.org/faq.')
    >>> respell(response, 'until 31 May 2025: www.a.org/faq').text
    'Until 31 May 2025, see www.a.org/faq.'
    """
    # Most texts have nothing of these.
    text = response.text.lower()
    if _DIGIT.search(text):
        response = _respell(response, knowledge, _DATE, _read_date)
        if _LONG_NUMBER.search(text):
            response = _respell(response, knowledge, TELEPHONE, read_telephone)
        if '1 ' in text:
            response = response.replace(_ONE, lambda match: _read_one(match, knowledge))
    if '://' in text:
        known = links.keys() | find_addresses(knowledge)
        response = response.replace(
            SHOWN_TARGET, lambda m: '' if bare_link(m[1]) in known else None
        )
        response = response.replace(URL, lambda m: links.get(bare_link(m[0])))
    if _DOMAIN.search(text):
        response = _respell(response, knowledge, _LINK, _read_link)
    response = _respell(response, knowledge, _NUMBERED_NAME, _read_numbered_name)
    if ' in the ' in text or 'at night' in text:
        response = response.replace(_HOUR, lambda match: _read_hour(match, knowledge))
    if 'until' in text or 'till' in text:
        response = response.replace(_UNTIL, lambda match: _read_until(match, knowledge))
    if 'the clock' in text or '24' in text:
        response = response.replace(
            _ALWAYS, lambda match: _read_always(match, knowledge)
        )
    return response


Read = Callable[[re.Match[str]], str]


def _respell(
    response: PreparedText, knowledge: str, pattern: re.Pattern[str], read: Read
) -> PreparedText:
    """The response with what a pattern finds as the knowledge has it."""

    def find(match: re.Match[str]) -> str | None:
        spelling = _index(knowledge, pattern, read).get(read(match))
        is_same = spelling is None or spelling.lower() == match[0].lower()
        return None if is_same else spelling

    return response.replace(pattern, find)


@lru_cache(maxsize=64)
def _index(knowledge: str, pattern: re.Pattern[str], read: Read) -> Mapping[str, str]:
    """What a pattern finds in a text, by what it means; the first spelling of each."""
    spellings: dict[str, str] = {}
    for match in pattern.finditer(knowledge):
        if key := read(match):
            spellings.setdefault(key, match[0])
            if pattern is _DATE and not match['plain_year']:
                # A date in digits may be said without its year.
                spellings.setdefault(key.partition(' ')[0], match[0])
    return spellings


def _read_date(match: re.Match[str]) -> str:
    """A date as "5-31 2025", or "5-31" without a year."""
    year = match['year'] or match['dotted_year'] or match['slashed_year']
    year = year or match['plain_year'] or ''
    if match['year']:
        month, day = int(match['month']), int(match['day'])
    elif match['dotted']:
        day, month = map(int, match['dotted'].split('.')[:2])
    elif match['slashed']:
        first, second = map(int, match['slashed'].split('/')[:2])
        month, day = sorted((first, second))
        if day <= 12 and day != month:
            return f'{first}/{second} {year}'  # the sixth of May or the fifth of June
    else:
        name = match['month_after'] or match['month_before']
        month = 1 + _MONTHS.index(name[:3].lower())
        day = int(match['day_before'] or match['day_after'])
    return f'{month}-{day} {year}'.rstrip()


def _read_link(match: re.Match[str]) -> str:
    return bare_link(match[0])


def _read_numbered_name(match: re.Match[str]) -> str:
    """ "War 2" for "War II", "WW2" and "Second World War"; empty for "XL"."""
    if match['ordinal']:
        return f'War {1 if match["ordinal"] == "First" else 2}'
    number = match['number']
    if not number.isdecimal():
        is_pronoun = number == 'I' and match['name'] not in _FIRST_ONES
        is_number = number in _ROMAN and not is_pronoun
        number = str(1 + _ROMAN.index(number)) if is_number else ''
    return number and f'{"War" if match["name"] == "WW" else match["name"]} {number}'


def _read_one(match: re.Match[str], knowledge: str) -> str | None:
    """ "one onion" or "an onion" for "1 onion", if the knowledge has one."""
    noun = match['noun']
    before = match.string[max(0, match.start() - 12) : match.start()]
    if noun in FUNCTION_WORDS or _NUMBERED.search(before):
        return None  # "Room 1 and room 2", "Chapter 1 describes"
    pattern = (
        rf'\b(one|an?) (?:(?!(?:of|or|and|to|half|that|which|who)\b)[\w-]+ ){{0,2}}'
        rf'{noun}\b'
    )
    phrase = re.search(pattern, knowledge, re.IGNORECASE)
    return f'{phrase[1].lower()} {noun}' if phrase else None


def _read_hour(match: re.Match[str], knowledge: str) -> str | None:
    """ "at 9 pm" for "at nine in the evening", if the knowledge has such a time."""
    hour = parse_number(match['hour'].lower())
    if not hour or hour > 12 or not _has_hour(knowledge, hour):
        return None
    # One at night is in the morning.
    part = (match['part'] or '').lower()
    is_morning = part == 'morning' or (not part and (hour < 6 or hour == 12))
    noon = 'am' if is_morning else 'pm'
    return f'{match["before"]} {hour:g}{match["minute"] or ""} {noon}'


def _read_until(match: re.Match[str], knowledge: str) -> str | None:
    """ "until 9:00" for "until nine", if the knowledge has such a time."""
    hour = parse_number(match['hour'].lower())
    if not hour or not _has_hour(knowledge, hour):
        return None
    return f'{match["before"]} {hour:g}:00'


def _has_hour(knowledge: str, hour: float) -> bool:
    """Whether a text has a time of that hour, before or after noon."""
    times = [amount for amount in find_amounts(knowledge) if amount.dimension == CLOCK]
    hours = {int(value) % 12 for time in times for value in (time.value, time.top)}
    return hour % 12 in hours


def _read_always(match: re.Match[str], knowledge: str) -> str | None:
    """How the knowledge says "around the clock", if it means every day."""
    phrase = _ALWAYS.search(knowledge)
    if not phrase or phrase[0].lower() == match[0].lower() or match[0] in knowledge:
        return None
    is_every_day = phrase[0] == '24/7' or not _SOME_DAYS.search(knowledge)
    return phrase[0] if is_every_day else None
