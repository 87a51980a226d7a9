"""
Amounts by value: "half an hour" is 30 minutes, "$890M" is 0.89 billion dollars, "3-5
days" is neither 3 days nor 5, and 42 miles are not 42 kilometres.

Detectors read numbers as tokens. So an amount of a response that agrees with one of the
knowledge is put as the knowledge has it before a detector reads it (:func:`restate`),
and an amount that the knowledge does not have cannot be supported
(:func:`find_unsupported`).
"""

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from parlai_q2.text.number_words import ONE, SUFFIXES, WORD, parse_number
from parlai_q2.text.units import UNITS

_DIGITS = r'\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+|,\d{1,2}(?![\d,]))?'
_UNIT = '|'.join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_SIGNS = '$€£¥'
_DASH = r'\s?[-–—−]\s?|\s(?:to|and|or)\s'
_AMOUNT = re.compile(
    rf'(?<![\w.,{_SIGNS}/])(?<![^\d\s(]-)(?<!^-)'
    rf'(?P<half>half an? |an? quarter of an? )?'
    rf'(?P<sign>(?:US|A|C)?[{_SIGNS}]\s?)?'
    rf'(?P<number>(?:{_DIGITS})(?P<suffix>\s?(?-i:k|K|mn|bn|M|B|tn|m)(?![\w/²]))?'
    rf'(?: (?:hundred|thousand|million|billion|trillion)\b)?'
    rf'|(?:a |an )?(?:{WORD})\b(?:(?:[ -]| and )(?:{WORD})\b)*'
    rf'|an?(?= )|(?<=half an )|(?<=half a ))'
    rf'(?P<and>(?: and a|½| ½) ?half|½)?'
    rf'(?:[ -]?(?P<unit>{_UNIT})(?![\w/]))?(?P<late> and a half)?(?!\w)',
    re.IGNORECASE,
)
# Words before an amount that say it is not exact, and those that say it is a bound.
_ROUGH = re.compile(
    r'(?:about|around|roughly|approximately|some|almost|nearly|circa|ca\.?|just over|'
    r'just under|a bit over|a little over|close to|or so|~) ?$',
    re.IGNORECASE,
)
_MORE = re.compile(
    r'(?<!just )(?<!bit )(?<!little )'
    r'(?:more than|over|above|upwards of|exceeding|>) ?$',
    re.IGNORECASE,
)
_LESS = re.compile(
    r'(?<!just )(?:less than|fewer than|under|below|<) ?$', re.IGNORECASE
)
_LEAST = re.compile(
    r'(?:at least|a minimum of|no (?:less|fewer) than|from|≥|>=) ?$', re.IGNORECASE
)
_MOST = re.compile(
    r'(?:at most|a maximum of|no more than|up to|until|≤|<=) ?$', re.IGNORECASE
)
_OR_MORE = re.compile(r'\+|(?: \w+)? (?:or|and) (?:more|older|over|above|higher)\b')
_OR_LESS = re.compile(r'(?: \w+)? (?:or|and) (?:less|fewer|younger|under|below)\b')
_ATTRIBUTE = re.compile(r' (long|wide|high|tall|deep|thick)\b', re.IGNORECASE)
_SAME_ATTRIBUTE = {'tall': 'high'}
# "A ten-year-old" is any person of that age.
_AGE = re.compile(r'a (?:\w+[ -])?\w+[ -]years?[ -]old')
# How far values may be apart and agree: exact ones are rounded to three digits, and a
# bound is told of a value that is not much beyond it.
EXACT, ROUGH, BOUND = 0.006, 0.04, 0.25
# Of more amounts than this, some pair has any sum.
MOST_COMBINED = 8
# A small number in words may count what the knowledge lists without a number.
MOST_COUNTED = 12
_FACT = re.compile(r'(?<![\w.,])[\w/-]*\d[\w/-]*')


class Amount(NamedTuple):
    """
    An amount in a text.

    :param number: the number that is said, temperatures in degrees Celsius; of a range,
        the lower one.
    :param digits: the number as it is said.
    :param dimension: what is measured; empty for a bare number.
    :param size: its unit, in the dimension's own.
    :param told: where what is said of it starts, "more than 30", at most ``start``.
    :param start: where it starts in the text, and ``end`` where it ends.
    :param bound: 1 if the text says more than that, or at least that, -1 if less.
    :param rough: whether the text says that it is rounded.
    :param high: the upper number of a range, else ``number``.
    :param is_words: whether it is written in words.
    :param attribute: the word behind it that says what it measures: "wide".
    """

    number: float
    digits: float
    dimension: str
    size: float
    told: int
    start: int
    end: int
    bound: int = 0
    rough: bool = False
    high: float | None = None
    is_words: bool = False
    attribute: str = ''

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
    """The amounts of a text, in order: those with a unit, bare numbers, and ranges."""
    found = list(_scan(text))
    amounts: list[Amount] = []
    for amount in found:
        if amounts and (joined := _join_range(text, amounts[-1], amount)):
            amounts[-1] = joined
        else:
            amounts.append(amount)
    return tuple(amounts)


def _scan(text: str) -> Iterator[Amount]:
    place = 0
    while m := _AMOUNT.search(text, place):
        place = m.end()
        if m.start() == m.end():
            place += 1
            continue
        said, unit = m['number'].lower(), (m['unit'] or '').lower()
        sign = (m['sign'] or '').strip()
        if not unit and not sign and (m['half'] or said in (*ONE, 'one', '')):
            continue  # "one of them", "half a"
        scale = 1.0
        if suffix := (m['suffix'] or '').strip():
            said = said[: -len(m['suffix'])] if said.endswith(suffix.lower()) else said
            if suffix == 'm' and not sign:
                unit = unit or 'm'
            else:
                scale = 1e6 if suffix == 'm' else SUFFIXES[suffix]
        number = 1.0 if said in (*ONE, '') else parse_number(said.strip())
        if number is None:
            continue
        number *= scale
        if m['half']:
            number *= 0.25 if 'quarter' in m['half'].lower() else 0.5
        if m['and'] or m['late']:
            number += 0.5
        dimension, size = UNITS.get(sign[-1:] or unit, ('', 1.0))
        digits = number
        if dimension == 'temperature' and unit.endswith(('f', 'fahrenheit')):
            number = (number - 32) / 1.8
        before = text[max(0, m.start() - 20) : m.start()]
        after = text[m.end() : m.end() + 24]
        more, less = _MORE.search(before), _LESS.search(before)
        least, most = _LEAST.search(before), _MOST.search(before)
        rough = _ROUGH.search(before)
        behind = _OR_MORE.match(after) or _OR_LESS.match(after)
        attribute = _ATTRIBUTE.match(after)
        leads = (more, less, least, most, rough)
        yield Amount(
            number,
            digits,
            dimension,
            size,
            m.start() - max((len(lead[0]) for lead in leads if lead), default=0),
            m.start(),
            m.end() + (len(behind[0]) if behind else 0),
            bool(more or least or _OR_MORE.match(after))
            - bool(less or most or _OR_LESS.match(after)),
            bool(rough),
            is_words=said[:1].isalpha(),
            attribute=attribute[1].lower() if attribute else '',
        )


def _join_range(text: str, low: Amount, high: Amount) -> Amount | None:
    """Two amounts as a range, "3-5 days", "between 3 and 5"; None if they are not."""
    between = text[low.end : high.start]
    if low.high is not None or not re.fullmatch(_DASH, between, re.IGNORECASE):
        return None
    word = between.strip().lower()
    if word == 'or' or (word == 'and' and not _has_between(text, low.told)):
        return None
    if low.dimension and low.dimension != high.dimension:
        return None
    size, number = high.size, low.number
    if low.dimension:
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
        told=low.told,
        start=low.start,
        high=high.number,
        bound=0,
    )


def _has_between(text: str, place: int) -> bool:
    return text[max(0, place - 8) : place].lower().strip() == 'between'


def agrees(known: Amount, said: Amount) -> bool:
    """
    Whether what is said is the known amount: in its own unit exactly, in another or in
    words up to rounding; or a bound that it keeps and is near. A number without a unit
    may stand for one with a unit ("sixty-four" for "64 years"). An end of a range is
    not the range.
    """
    if known.dimension != said.dimension:
        if not _may_omit_unit(known, said):
            return False
        known, said = _without_unit(known), _without_unit(said)
    if known.bound * said.bound < 0 or _measure_different(known, said):
        return False
    if (known.high is None) != (said.high is None):
        # About a range, or a bound at its end: "about 4 days", "up to 5 days".
        inside = known.value <= said.value <= known.top
        at_end = said.bound and said.value in (known.value, known.top)
        return said.high is None and ((said.rough and inside) or bool(at_end))
    if known.high is not None:
        return _is_near(known, known.value, said.value, said) and _is_near(
            known, known.top, said.top, said
        )
    return _is_near(known, known.value, said.value, said)


def _measure_different(known: Amount, said: Amount) -> bool:
    measured = (known.attribute, said.attribute)
    return all(measured) and len({_SAME_ATTRIBUTE.get(a, a) for a in measured}) > 1


def _is_near(known: Amount, value: float, said_value: float, said: Amount) -> bool:
    if not value or not said_value:
        return value == said_value
    apart = (value - said_value) / said_value
    if said.bound and not known.bound:
        return 0 <= apart * said.bound <= BOUND
    if known.dimension == 'temperature':
        return abs(value - said_value) <= 0.6
    if known.size == said.size and not said.rough:
        return math.isclose(value, said_value)
    return abs(apart) <= (ROUGH if said.rough else EXACT)


def _may_omit_unit(known: Amount, said: Amount) -> bool:
    if (known.dimension == 'mass' and said.dimension == 'sterling') or (
        known.dimension == 'sterling' and said.dimension == 'mass'
    ):
        return True  # pounds
    return not known.dimension or not said.dimension


def _without_unit(amount: Amount) -> Amount:
    return amount._replace(dimension='', size=1.0, number=amount.digits)


def restate(knowledge: str, response: str) -> str:
    """
    A response with every amount that agrees with one of the knowledge put as the
    knowledge has it.

    >>> restate('It takes 90 minutes.', 'It takes about an hour and a half!')
    'It takes 90 minutes!'
    """
    known = find_amounts(knowledge)
    out, place = [], 0
    for said in find_amounts(response) if known else ():
        # Of several that agree, one that is written alike.
        matches = [one for one in known if agrees(one, said)]
        if matches:
            match = min(matches, key=lambda one: one.dimension != said.dimension)
            is_told_alike = (match.bound, match.rough) == (said.bound, said.rough)
            start = said.start if is_told_alike else said.told
            out += [response[place:start], knowledge[match.start : match.end]]
            place = said.end
    return ''.join([*out, response[place:]])


# A statement is compared with several parts of its knowledge.
@lru_cache(maxsize=256)
def find_unsupported(knowledge: str, response: str) -> tuple[Amount, ...]:
    """
    The amounts of a response that the knowledge cannot support: none of its amounts
    agrees with them, and none of their sums, differences and shares.

    Left to the detector are bounds and rounded amounts, and small numbers in words,
    which may count what the knowledge lists.

    >>> [a.number for a in find_unsupported('It has 3-5 floors.', 'It has 3 or 7.')]
    [3.0, 7.0]
    """
    known = find_amounts(knowledge)
    return tuple(
        said
        for said in find_amounts(response)
        if not any(agrees(one, said) for one in known)
        and (
            _has_other_unit(said, known)
            or not (
                _is_loose(said, response, known)
                or _has_both_ends(said, known)
                or _is_derived(said, known)
            )
        )
    )


def conflicts(knowledge: str, response: str) -> bool:
    """
    Whether a response has an unsupported amount in a unit of what the knowledge
    measures, too. Bare numbers may count something else.
    """
    measured = {one.dimension for one in find_amounts(knowledge)} - {''}
    return any(
        said.dimension in measured for said in find_unsupported(knowledge, response)
    )


def _is_loose(said: Amount, response: str, known: Sequence[Amount]) -> bool:
    if said.rough:
        return True
    if said.bound:
        # Of two bounds, the numbers must agree.
        return not any(one.bound and one.dimension == said.dimension for one in known)
    if said.is_words and said.high is None:
        most = 1 if said.dimension else MOST_COUNTED  # "a day" is rarely a measure
        if said.digits <= most:
            return True
    return _AGE.match(response, max(0, said.start - 2)) is not None


def _has_both_ends(said: Amount, known: Sequence[Amount]) -> bool:
    """Whether the ends of what is written as a range are known, one by one."""
    if said.high is None:
        return False
    ends = (said._replace(high=None), said._replace(number=said.high, high=None))
    return all(any(agrees(one, end) for one in known) for end in ends)


def _has_other_unit(said: Amount, known: Sequence[Amount]) -> bool:
    """Whether the knowledge has the same digits with a unit of another size."""
    return bool(said.dimension) and any(
        one.dimension
        and math.isclose(one.digits, said.digits)
        and (one.dimension, one.value) != (said.dimension, said.value)
        for one in known
    )


def _is_derived(said: Amount, known: Sequence[Amount]) -> bool:
    """Whether an amount is a sum, a difference or a share of known ones."""
    if not 2 <= len(known) <= MOST_COMBINED:
        return False
    target, rough = said.value, said._replace(rough=True)
    for one, other in combinations(known, 2):
        if said.dimension == 'share':
            values = [
                100 * a.value / b.value
                for a, b in ((one, other), (other, one))
                if b.value
            ]
            if any(abs(value - target) <= ROUGH * target for value in values):
                return True
            continue
        if {one.dimension, other.dimension} == {'', 'time'} and not said.dimension:
            year, span = (one, other) if not one.dimension else (other, one)
            years = span.value / UNITS['year'][1]
            if abs(abs(target - year.value) - years) < 0.5:
                return True
        if one.dimension != other.dimension:
            continue
        # The difference of two years is a time.
        is_years = said.dimension == 'time' and not one.dimension
        if not is_years and one.dimension != said.dimension and said.dimension:
            continue
        unit = said.size if is_years else 1.0
        for value in (one.value + other.value, abs(one.value - other.value)):
            near = rough._replace(number=value * unit / said.size)
            if _is_near(near, value * unit, target, said) and value:
                return True
    return False


def known_share(knowledge: str, text: str) -> float:
    """
    The share of a text's amounts, and of its other words with digits, that the
    knowledge has, in [0, 1]; 1 for a text without any.
    """
    amounts = find_amounts(text)
    codes = _find_codes(text, amounts)
    if not amounts and not codes:
        return 1.0
    known = find_amounts(knowledge)
    known_codes = _find_codes(knowledge, known)
    hits = sum(any(agrees(one, said) for one in known) for said in amounts)
    return (hits + len(codes & known_codes)) / (len(amounts) + len(codes))


def _find_codes(text: str, amounts: Sequence[Amount]) -> set[str]:
    """The words with digits that are no amounts: "A380", "19th"."""
    taken = {place for amount in amounts for place in range(amount.start, amount.end)}
    return {m[0].lower() for m in _FACT.finditer(text) if m.start() not in taken}
