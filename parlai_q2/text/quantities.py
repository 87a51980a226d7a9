"""
Quantities by value: "half an hour" is 30 minutes, "sixty thousand" is 60,000, and 42
miles are not 42 kilometres.

Detectors read numbers as tokens. So what a response says in another unit or in words is
put as its knowledge has it before a detector reads it (:func:`restated`), and the same
digits with a unit of another size contradict (:func:`contradicts`).
"""

import math
import re
from functools import lru_cache
from typing import Iterator, NamedTuple, Optional

# The names of units by dimension, and their size; exact by definition, but for months
# and years (Gregorian means) and the US gallon and pint.
_UNITS: dict[str, dict[str, float]] = {
    'length': {
        'metre|meter|m': 1, 'kilometre|kilometer|km': 1000, 'mile|mi': 1609.344,
        'centimetre|centimeter|cm': 0.01, 'millimetre|millimeter|mm': 0.001,
        'foot|feet|ft': 0.3048, 'inch|inches': 0.0254, 'yard|yd': 0.9144,
    },
    'mass': {
        'kilogram|kilogramme|kilo|kg': 1, 'gram|gramme|g': 0.001,
        'milligram|mg': 1e-6, 'tonne|metric ton|t': 1000, 'pound|lb': 0.45359237,
        'ounce|oz': 0.028349523125,
    },
    'time': {
        'second|sec': 1, 'minute|min': 60, 'hour|hr': 3600, 'day': 86400,
        'week': 604800, 'month': 2629746, 'year': 31556952, 'decade': 315569520,
        'century|centuries': 3155695200,
    },
    'volume': {
        'litre|liter|l': 1, 'millilitre|milliliter|ml': 0.001,
        'gallon': 3.785411784, 'pint': 0.473176473,
    },
    'area': {
        'square metre|square meter|m²': 1, 'square kilometre|square kilometer|km²': 1e6,
        'square mile': 2589988.110336, 'hectare|ha': 1e4, 'acre': 4046.8564224,
    },
    'speed': {
        'km/h|kilometre per hour|kilometer per hour|kph': 1,
        'mph|mile per hour': 1.609344,
        'metre per second|meter per second|m/s': 3.6,
        'kilometre per second|kilometer per second': 3600,
    },
    'energy': {'kilocalorie|kcal': 1, 'calorie': 0.001, 'kilojoule|kj': 0.239005736},
    'temperature': {'degree celsius|°c': 1, 'degree fahrenheit|°f': 1},
    'euros': {'euro|€': 1},
    'dollars': {'dollar|$': 1, 'cent': 0.01},
    'pounds': {'pence': 0.01},
    'share': {'percent|per cent|%': 1},
}  # fmt: skip
NAMES: dict[str, tuple[str, float]] = {}
for _dimension, _sizes in _UNITS.items():
    for _names, _size in _sizes.items():
        for _name in _names.split('|'):
            first, *rest = _name.split(' ')
            plural = ' '.join([f'{first}s', *rest])
            if rest and rest[0] not in ('per', 'celsius', 'fahrenheit', 'cent'):
                plural = f'{_name}s'  # square miles, but miles per hour
            NAMES[_name] = NAMES[plural] = (_dimension, float(_size))

_SMALL = {
    word: n
    for n, word in enumerate(
        'zero one two three four five six seven eight nine ten eleven twelve thirteen '
        'fourteen fifteen sixteen seventeen eighteen nineteen'.split()
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate(
        'twenty thirty forty fifty sixty seventy eighty ninety'.split(), 2
    )
}
_SCALES = {'hundred': 1e2, 'thousand': 1e3, 'million': 1e6, 'billion': 1e9}
_WORD = '|'.join((*_SMALL, *_TENS, *_SCALES, 'dozen'))
_DIGITS = r'\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?'
_UNIT = '|'.join(sorted(map(re.escape, NAMES), key=len, reverse=True))
_QUANTITY = re.compile(
    rf'(?<![\w.,$£€/-])(?P<half>half an? |an? quarter of an? )?'
    rf'(?P<number>(?:{_DIGITS})(?: (?:hundred|thousand|million|billion)\b)?'
    rf'|(?:a |an )?(?:{_WORD})\b(?:(?:[ -]| and )(?:{_WORD})\b)*'
    rf'|an?(?= )|(?<=half an )|(?<=half a ))'
    rf'(?P<and>(?: and a|½| ½) ?half|½)?'
    rf'(?:[ -]?(?P<unit>{_UNIT})(?![\w/]))?(?P<late> and a half)?',
    re.IGNORECASE,
)
# Words before a quantity that say it is not exact, and those that say it is a bound.
_ROUGH = re.compile(
    r'(?:about|around|roughly|approximately|some|almost|nearly|circa|ca\.?|just over|'
    r'just under|a bit over|a little over|or so) $',
    re.IGNORECASE,
)
_MORE = re.compile(
    r'(?<!just )(?<!bit )(?<!little )(?:more than|over|above|upwards of) $',
    re.IGNORECASE,
)
_LESS = re.compile(r'(?<!just )(?:less than|fewer than|under|below) $', re.IGNORECASE)
# How far values may be apart and agree: exact ones are rounded to three digits, and a
# bound is told of a value that is not much beyond it.
EXACT, ROUGH, BOUND = 0.006, 0.04, 0.25
ONE = ('a', 'an')


class Quantity(NamedTuple):
    """
    A quantity in a text.

    :param number: the number that is said, temperatures in degrees Celsius.
    :param digits: the number as it is said.
    :param dimension: what is measured; empty for a bare number.
    :param size: its unit, in the dimension's own.
    :param start: where it starts in the text, and ``end`` where it ends.
    :param told: where what is said of it starts, "more than 30", at most ``start``.
    :param bound: 1 if the text says more than that, -1 if less, else 0.
    :param rough: whether the text says that it is rounded.
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

    @property
    def value(self) -> float:
        return self.number * self.size


@lru_cache(maxsize=512)
def quantities(text: str) -> tuple[Quantity, ...]:
    """The quantities of a text, in order: those with a unit, and numbers."""
    return tuple(_found(text))


def _found(text: str) -> Iterator[Quantity]:
    for m in _QUANTITY.finditer(text):
        said, unit = m['number'].lower(), (m['unit'] or '').lower()
        if not unit and (m['half'] or said in (*ONE, 'one', '')):
            continue  # "one of them", "half a"
        number = 1.0 if said in (*ONE, '') else _number(said)
        if number is None:
            continue
        if m['half']:
            number *= 0.25 if 'quarter' in m['half'].lower() else 0.5
        if m['and'] or m['late']:
            number += 0.5
        dimension, size = NAMES.get(unit, ('', 1.0))
        digits = number
        if dimension == 'temperature' and unit.endswith(('f', 'fahrenheit')):
            number = (number - 32) / 1.8
        before = text[max(0, m.start() - 20) : m.start()]
        more, less = _MORE.search(before), _LESS.search(before)
        rough = _ROUGH.search(before)
        lead = max((len(found[0]) for found in (more, less, rough) if found), default=0)
        yield Quantity(
            number,
            digits,
            dimension,
            size,
            m.start() - lead,
            m.start(),
            m.end(),
            bool(more) - bool(less),
            bool(rough),
        )


def _number(said: str) -> Optional[float]:
    """The number of digits or words; None where they are no number."""
    total = group = 0.0
    for word in re.split(r'[ -]', said.replace(' and ', ' ')):
        if word in ONE:
            continue
        if word in _SCALES:
            scale = _SCALES[word]
            if scale > 100:
                total, group = total + (group or 1) * scale, 0.0
            else:
                group = (group or 1) * scale
        elif word == 'dozen':
            group = (group or 1) * 12
        elif word in _SMALL or word in _TENS:
            group += _SMALL.get(word, 0) or _TENS.get(word, 0)
        else:
            try:
                group += float(word.replace(',', ''))
            except ValueError:
                return None
    return total + group


def agree(known: Quantity, said: Quantity) -> bool:
    """
    Whether what is said is the known quantity: in its own unit exactly, in another or
    in words up to rounding; or a bound that it keeps and is near.
    """
    if known.dimension != said.dimension or known.bound and said.bound:
        return False
    one, other = known.value, said.value
    if not one or not other:
        return one == other
    apart = (one - other) / other
    if said.bound:
        return 0 < apart * said.bound <= BOUND
    if known.dimension == 'temperature':
        return abs(one - other) <= 0.6
    if known.size == said.size and not said.rough:
        return math.isclose(one, other)
    return abs(apart) <= (ROUGH if said.rough else EXACT)


def restated(knowledge: str, response: str) -> str:
    """
    A response with every quantity that agrees with one of the knowledge put as the
    knowledge has it.

    >>> restated('It takes 90 minutes.', 'It takes about an hour and a half!')
    'It takes 90 minutes!'
    """
    known = quantities(knowledge)
    out, place = [], 0
    for said in quantities(response) if known else ():
        match = next((one for one in known if agree(one, said)), None)
        if match:
            out += [response[place : said.told], knowledge[match.start : match.end]]
            place = said.end
    return ''.join([*out, response[place:]])


def contradicts(knowledge: str, response: str) -> bool:
    """
    Whether a response has the digits of a quantity of its knowledge with a unit of
    another size, and the knowledge has no quantity of that value.
    """
    known = [one for one in quantities(knowledge) if one.dimension]
    return any(
        any(
            math.isclose(one.digits, said.digits)
            and (one.dimension, one.value) != (said.dimension, said.value)
            for one in known
        )
        and not any(agree(one, said) for one in known)
        for said in quantities(response)
        if said.dimension and known
    )
