"""
Amounts by value: "half an hour" is 30 minutes, "$890M" is 0.89 billion dollars, "3-5
days" is neither 3 days nor 5, and 42 miles are not 42 kilometres.

:mod:`parlai_q2.text.agreement` compares the amounts of two texts.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from parlai_q2.text.addresses import find_telephone_digits
from parlai_q2.text.numerals import (
    ARTICLES,
    FRACTIONS,
    NUMBER_WORD,
    SMALL,
    one_of,
    parse_number,
)
from parlai_q2.text.qualifiers import read_qualifier
from parlai_q2.text.units import CENT, CLOCK, CURRENCIES, FREQUENCY, UNITS

# Letters right behind digits. A small m is a scale behind a currency only: else metres.
SUFFIXES = {
    'k': 1e3, 'K': 1e3, 'M': 1e6, 'mn': 1e6, 'bn': 1e9, 'B': 1e9, 'tn': 1e12
}  # fmt: skip
# The hours of a clock.
HOUR = '|'.join((*list(SMALL)[1:13], r'1?\d'))
_START = rf'{NUMBER_WORD}|{one_of(("noon", "midday", "midnight", "once", "twice"))}'
_DIGITS = (
    r'\d{1,3}(?:\.\d{3})+,\d\d?(?![\d,])|\d{1,3}(?:,\d{3})+(?:\.\d+)?|'
    r'\d+(?:\.\d+|,\d{1,2}(?![\d,]))?'
)
_UNIT = one_of(sorted(UNITS, key=len, reverse=True))
# "1 200 km" and "12 000", but not "in 2007 500 people".
_SPACED_DIGITS = (
    rf'\d{{1,3}}(?: \d{{3}})+(?:(?<= 000)(?!\d)|(?=[ -]?(?:{_UNIT})(?![\w/])))'
)
# "½" and, of a unit, "1 1/2"; perhaps behind a whole number.
_FRACTION = (
    rf'(?:\d+ ?)?[{"".join(FRACTIONS)}]'
    rf'|(?:\d+ )?[1-9]/[2-9](?=[ -](?:{_UNIT})(?![\w/]))'
)
# Of "a third of", not of "half an hour".
_PARTS = {'half': 0.5, 'third': 1 / 3, 'quarter': 0.25, 'fifth': 0.2, 'tenth': 0.1}
# Before the half of something that is not counted: "the latter half of the century".
_NO_SHARE = ''.join(
    f'(?<!{word} )'
    for word in 'first second other er ern st top bottom left right that this'.split()
)
_SIGNS = '$€£¥'
# Between a number and its unit: what tells this from the same of another kind.
_KINDS = {
    'business': 'working', 'working': 'working', 'calendar': 'calendar',
    'consecutive': 'calendar', 'american': 'us', 'us': 'us', 'australian': 'a',
    'canadian': 'c',
}  # fmt: skip
_KIND = f'(?:full|whole|{one_of(_KINDS)})'
_HALVED = '(?:hour|mile|lit(?:re|er))s?\\b'
# "Two hundred and five", but not "between one and five".
_AND = '(?:(?<=hundred)|(?<=thousand)|(?<=illion)) and '
# Between the ends of a range.
RANGE_DASH = re.compile(
    r'\s?[-–—−]\s?|\s(?:to|through|thru|till|until|and|or)\s', re.IGNORECASE
)
_AMOUNT = re.compile(
    # Behind "v" stands a version.
    rf'(?:(?<![\w.,{_SIGNS}/])|(?<=\bv)(?=\d))'
    # No part of a word ("B-12"), but the end of a range ("10am-6pm") or "mid-1990".
    rf'(?:(?<!-)|(?<=[\d\s(]-)|(?<=[\d ][ap]m-)|(?<=[ap]\.m-)|(?<=[ap]\.m\.-)'
    rf'|(?<=\bmid-))'
    # What an amount may start with; other words are left at once.
    rf'(?=[\d{"".join(FRACTIONS)}]|(?:US|A|C)?[{_SIGNS}]|an? |half|quarter|{_START}|'
    r'(?<=half an )|(?<=half a ))'
    rf'(?:(?P<hour>\d{{1,2}})(?:[:.](?P<minute>[0-5]\d))?(?P<noon> ?[ap]\.?m\b)'
    rf'|(?:12 |twelve )?(?P<name>noon|midday|midnight)\b'
    # Others, such as "she once lived here", count nothing.
    r'|(?P<multiple>twice|once(?= (?:per|each|every|daily|weekly|monthly)\b'
    r'| an? (?:minute|hour|day|night|week|fortnight|month|quarter|season|year)\b))'
    # "Half of the staff", "two thirds of", but not "the first half of".
    rf'|(?:(?P<parts>an?|one|two|three|four) (?P<fraction>{one_of(_PARTS)})s?'
    rf'|{_NO_SHARE}(?P<bare_half>half))'
    r'(?= of (?!an?\b)|(?<=half) (?:all|its|my|our|the|their|your)\b)'
    rf'|(?P<part>half|a quarter|quarter|(?:five|ten)(?= past)'
    rf'|twenty(?:[ -]five)?) (?P<side>past|to) (?P<part_hour>{HOUR})\b'
    # "9:30", and "9.30" before "-5.30pm".
    rf'|(?P<plain_hour>\d{{1,2}})(?::|\.(?=[0-5]\d ?(?:[-–]|to|until) ?'
    rf'\d[\d.:]* ?[ap]\.?m\b))(?P<plain_minute>\d\d)(?![:\d])'
    rf'|(?P<half>half an? |half[ -](?={_HALVED})|an? quarter of an? )?'
    rf'(?P<sign>(?:US|A|C)?[{_SIGNS}]\s?)?'
    rf'(?P<number>{_FRACTION}|(?:{_SPACED_DIGITS}|{_DIGITS})(?P<suffix>(?:\s?(?-i:k|K|mn|bn|M|B|tn|m)|(?<!\d\d\d)(?-i:p))(?![\w/²]))?'
    rf'(?: (?:hundred|thousand|million|billion|trillion|dozen)\b)?'
    rf'|(?:a |an )?(?:{NUMBER_WORD})\b(?:(?:[ -]|{_AND})(?:{NUMBER_WORD})\b)*'
    rf'|an?(?= )|(?<=half an )|(?<=half a )|(?<=half[ -])(?={_HALVED})'
    r'|(?<=quarter of an )|(?<=quarter of a ))'
    rf'(?P<and> and a ?half)?'
    rf'(?:[ -]?(?:(?P<kind>{_KIND}) )?(?P<unit>{_UNIT})(?![\w/]))?'
    r'(?P<late> and a half)?)(?!\w)',
    re.IGNORECASE,
)
# Below zero; "3 -5" is a range.
_MINUS = re.compile(r'(?:(?:^|(?<!\d)[\s(])-|\b(?:minus|negative) )$', re.IGNORECASE)
_DEGREES = ('temperature', 'degrees')
_BELOW_ZERO = re.compile(r' below (?:zero|freezing)\b', re.IGNORECASE)
_ATTRIBUTE = re.compile(r' (long|wide|high|tall|deep|thick)\b', re.IGNORECASE)

# Before the unit of a rate: "120 euros a day", "twice a day".
_BEFORE_RATE = re.compile(r'(?:,|\b(?:once|twice|times)|\d(?: \w+)?) $', re.IGNORECASE)
# What four digits may be a year.
FIRST_YEAR, LAST_YEAR = 1000, 2100
_AFTER_YEARS = re.compile(
    r'\s*(?:$|[^\w\s]|(?:and|as|at|because|but|by|for|he|in|it|on|she|the|they|under|when'
    r'|while|with)\b)',
    re.IGNORECASE,
)
_MONTH = r'(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*'
_MONTH_AFTER = re.compile(rf'(?:th|st|nd|rd)?(?: of)? {_MONTH}\b', re.IGNORECASE)
_MONTH_BEFORE = re.compile(rf'\b{_MONTH}\.? (?:the )?$', re.IGNORECASE)
_YEAR = re.compile(r'(?:1\d|20)\d\d')
_BEFORE_YEAR = re.compile(
    r'(?:^|[(,:;\n]|\b(?:in|since|until|by|during|for|year|before|after)) ?$', re.I
)


class Amount(NamedTuple):
    """
    An amount in a text.

    :param number: the number, temperatures in degrees Celsius; of a range,
        the lower one.
    :param digits: the number as it is written.
    :param dimension: what is measured; empty for a bare number.
    :param size: its unit, in the dimension's own.
    :param qualified_start: where its qualifier starts ("more than 30"), at most
        ``start``.
    :param start: where it starts in the text, and ``end`` where it ends.
    :param bound: 1 if the text says more than that, or at least that, -1 if less.
    :param is_limit: whether the bound is a limit itself ("at least", "up to").
    :param rough: whether the text says that it is rounded.
    :param high: the upper number of a range, else ``number``.
    :param is_words: whether it is written in words.
    :param attribute: the word behind it that says what it measures ("wide"), "am" or
        "pm" of a time, whose dollars ("us") or which days ("working") they are; of a
        range, that of the upper end.
    :param low_attribute: of a range, that of the lower end.
    :param are_dates: whether it is a range of years or days ("1990 to 1995", "5-7
        June"), whose ends are dates.
    """

    number: float
    digits: float
    dimension: str
    size: float
    qualified_start: int
    start: int
    end: int
    bound: int = 0
    is_limit: bool = False
    rough: bool = False
    high: float | None = None
    is_words: bool = False
    attribute: str = ''
    low_attribute: str = ''
    are_dates: bool = False

    @property
    def value(self) -> float:
        """The number in the dimension's own unit."""
        return self.number * self.size

    @property
    def top(self) -> float:
        """The upper end of a range in the dimension's own unit, else the value."""
        return self.value if self.high is None else self.high * self.size


@lru_cache(maxsize=1024)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """
    The amounts of a text, in order: those with a unit, bare numbers, and ranges, but no
    part of a telephone number.
    """
    amounts: list[Amount] = []
    telephone_digits = find_telephone_digits(text)
    for amount in scan_amounts(text):
        if amount.start in telephone_digits:
            continue
        if amounts and (
            joined := _join_parts(text, amounts[-1], amount)
            or _join_range(text, amounts[-1], amount)
        ):
            amounts[-1] = joined
        else:
            amounts.append(amount)
    return tuple(amounts)


def scan_amounts(text: str) -> Iterator[Amount]:
    """The amounts of a text, in order, with the ends of a range as two amounts."""
    place = 0
    # Behind the end, a search would start at the end again.
    while place <= len(text) and (match := _AMOUNT.search(text, place)):
        place = max(match.end(), match.start() + 1)
        if match[0] and (amount := _read(text, match)):
            yield amount


def _read_clock(match: re.Match[str]) -> Amount:
    """A time of day; what has no "am" or "pm" may be either."""
    noon = (match['noon'] or '').strip().replace('.', '').lower()
    if match['name']:
        is_midnight = match['name'].lower() == 'midnight'
        hour, noon = (0.0, 'am') if is_midnight else (12.0, 'pm')
    elif match['part']:
        hour = parse_number(match['part_hour'].lower()) or 0.0
        part = match['part'].lower().removeprefix('a ')
        minutes = {'half': 30.0, 'quarter': 15.0}.get(part) or parse_number(part) or 0.0
        hour += minutes / 60 * (1 if match['side'].lower() == 'past' else -1)
    else:
        hour = float(match['hour'] or match['plain_hour'])
        if noon:
            hour = hour % 12 + (12 if noon == 'pm' else 0)
        hour += float(match['minute'] or match['plain_minute'] or 0) / 60
    if hour == 24:
        hour, noon = 0.0, 'am'
    return Amount(
        number=hour,
        digits=hour,
        dimension=CLOCK,
        size=1.0,
        qualified_start=match.start(),
        start=match.start(),
        end=match.end(),
        is_words=bool(match['name']),
        attribute=noon or ('pm' if hour >= 13 else ''),
    )


def _read_words(text: str, match: re.Match[str]) -> Amount:
    """ "Twice", or "two thirds of"."""
    if match['multiple']:
        number, dimension, size = 1.0 + (match[0].lower() == 'twice'), FREQUENCY, 1.0
    else:
        parts = parse_number((match['parts'] or 'one').lower()) or 1.0
        number = parts * _PARTS[(match['fraction'] or 'half').lower()]
        dimension, size = 'share', 100.0
    start, end = match.span()
    qualifier = read_qualifier(text[max(0, start - 20) : start], text[end : end + 24])
    return Amount(
        number=number,
        digits=number,
        dimension=dimension,
        size=size,
        qualified_start=start - qualifier.before,
        start=start,
        end=end,
        bound=qualifier.bound,
        is_limit=qualifier.is_limit,
        rough=qualifier.rough,
        is_words=True,
    )


def _read(text: str, match: re.Match[str]) -> Amount | None:
    if match['hour'] or match['plain_hour'] or match['part'] or match['name']:
        return _read_clock(match)
    if match['multiple'] or match['fraction'] or match['bare_half']:
        return _read_words(text, match)
    numeral, unit = match['number'].lower(), (match['unit'] or '').lower()
    sign = (match['sign'] or '').strip()
    if not unit and not sign and (match['half'] or numeral in (*ARTICLES, 'one', '')):
        return None  # "one of them", "half a"
    scale = 1.0
    if suffix := (match['suffix'] or '').strip():
        numeral = numeral.removesuffix(match['suffix'].lower())
        if suffix == 'm' and not sign:
            unit = unit or 'm'
        elif suffix == 'p':
            unit = unit or 'pence'
        else:
            scale = 1e6 if suffix == 'm' else SUFFIXES[suffix]
    digits = _read_number(match, numeral.strip(), scale)
    if digits is None:
        return None
    dimension, size = UNITS.get(sign[-1:] or unit, ('', 1.0))
    number = digits
    start, end = match.span()
    if match['late'] and is_rate(text, start):
        # "20 euros a month and a half plot".
        number, digits, end = number - 0.5, digits - 0.5, match.start('late')
    is_negative = False
    # "-20 %" and "-5 euros" may tell of a discount.
    is_degrees = dimension in _DEGREES
    if is_degrees and (minus := _MINUS.search(text[max(0, start - 12) : start])):
        start -= len(minus[0].lstrip(' \n\t('))
        is_negative = True
    elif is_degrees and (below := _BELOW_ZERO.match(text, end)):
        end, is_negative = below.end(), True
    if is_negative:
        number = -number
    if dimension == 'temperature':
        number = _read_degrees(number, unit)
    after = text[end : end + 24]
    qualifier = read_qualifier(text[max(0, start - 20) : start], after)
    attribute = _ATTRIBUTE.match(after)
    kind = _KINDS.get((match['kind'] or '').lower(), '')
    return Amount(
        number=number,
        digits=digits,
        dimension=dimension,
        size=size,
        qualified_start=start - qualifier.before,
        start=start,
        end=end + qualifier.after,
        bound=qualifier.bound,
        is_limit=qualifier.is_limit,
        rough=qualifier.rough,
        is_words=numeral[:1].isalpha(),
        attribute=attribute[1].lower() if attribute else kind or sign[:-1].lower(),
    )


def _read_number(match: re.Match[str], numeral: str, scale: float) -> float | None:
    """The number of an amount; None where the numeral is none."""
    number = 1.0 if numeral in (*ARTICLES, '') else parse_number(numeral)
    if number is None:
        return None
    number *= scale
    if match['half']:
        number *= 0.25 if 'quarter' in match['half'].lower() else 0.5
    return number + 0.5 if match['and'] or match['late'] else number


def _read_degrees(number: float, unit: str) -> float:
    """A temperature in degrees Celsius."""
    is_fahrenheit = unit.endswith(('f', 'fahrenheit'))
    return (number - 32) / 1.8 if is_fahrenheit else number


def _join_parts(text: str, whole: Amount, part: Amount) -> Amount | None:
    """Two amounts as one, "1 h 30 min", "1 euro and 5 cents"; None if they are not."""
    between = text[whole.end : part.start].lower()
    if between != ' and ' and (between != ' ' or whole.is_words):
        return None
    is_cent = whole.dimension == 'euros' and (part.dimension, part.size) == CENT
    is_one_kind = whole.dimension and (part.dimension == whole.dimension or is_cent)
    if not is_one_kind or max(part.value, part.size) >= whole.size:
        return None
    if part.bound or part.rough or whole.high is not None or part.high is not None:
        return None
    # Money has the larger unit, so that no cent is lost in rounding.
    size = whole.size if whole.dimension in CURRENCIES else part.size
    number = (whole.value + part.value) / size
    return whole._replace(number=number, digits=number, size=size, end=part.end)


def _join_range(text: str, low: Amount, high: Amount) -> Amount | None:
    """Two amounts as a range, "3-5 days", "between 3 and 5"; None if they are not."""
    between = text[low.end : high.start]
    if low.dimension == CLOCK:
        between = between.removeprefix('.')  # "10 a.m. to 6 p.m."
    elif low.dimension in CURRENCIES and not high.dimension and '-' in between:
        high = high._replace(dimension=low.dimension, size=low.size)
        low = low._replace(dimension='', size=1.0)  # "$15-40"
    if low.high is not None or not RANGE_DASH.fullmatch(between):
        return None
    word = between.strip().lower()
    is_either = word == 'or' and not (high.dimension and high.digits == low.digits + 1)
    if is_either or (word == 'and' and not _has_between(text, low.qualified_start)):
        return None
    if low.dimension and low.dimension != high.dimension:
        return None
    if not low.dimension and text[high.start] in _SIGNS:
        return None  # "in 2020 to $1.5 billion"
    if is_year(text, low) and not _YEAR.fullmatch(text[high.start : high.end]):
        return None
    size, number = high.size, low.number
    if is_below_zero := not low.dimension and high.dimension in _DEGREES:
        minus = _MINUS.search(text[max(0, low.start - 12) : low.start])
        is_below_zero = minus is not None
    if is_below_zero:
        number = -number
    elif low.dimension:
        number = low.value / size
    elif high.number and low.number < 1000 <= high.number and high.digits != low.digits:
        # "2 to 3 million"
        for scale in (1e12, 1e9, 1e6, 1e3):
            if high.number >= scale and low.number < high.number / scale:
                number = low.number * scale
                break
    if number >= high.number:
        return None
    return high._replace(
        number=number,
        digits=low.digits,
        qualified_start=low.qualified_start,
        start=low.start,
        high=high.number,
        bound=0,
        low_attribute=low.attribute,
        are_dates=_are_dates(text, low, number, high),
    )


def _are_dates(text: str, start: Amount, low: float, high: Amount) -> bool:
    """
    Whether a range counts nothing ("1990 to 1995 seats") and may be of years, or of
    days of a month ("5-7 June").
    """
    if high.dimension:
        return False
    if FIRST_YEAR <= low < high.number < LAST_YEAR:
        return bool(_AFTER_YEARS.match(text, high.end))
    is_month = _MONTH_AFTER.match(text, high.end) or _MONTH_BEFORE.search(
        text[max(0, start.start - 12) : start.start]
    )
    return 1 <= low < high.number <= 31 and bool(is_month)


def is_rate(text: str, place: int) -> bool:
    """Whether the amount at a place is the unit of a rate: "120 euros a day"."""
    return _BEFORE_RATE.search(text[max(0, place - 24) : place]) is not None


def is_year(text: str, amount: Amount) -> bool:
    """Whether an amount of a text is a year: "in 2007", but not "2007 users"."""
    if amount.dimension or not _YEAR.fullmatch(text[amount.start : amount.end]):
        return False
    return bool(_BEFORE_YEAR.search(text[max(0, amount.start - 8) : amount.start]))


def _has_between(text: str, place: int) -> bool:
    return text[max(0, place - 8) : place].lower().strip() == 'between'
