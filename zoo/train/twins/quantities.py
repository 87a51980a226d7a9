"""
Makes twins by quantities. The same value in another unit or in words is right; another
value, the same digits in another unit, or two exchanged numbers are wrong.
"""

import random
import re
from collections.abc import Callable

from parlai_q2.zoo.train.twins.facts import ONES
from parlai_q2.zoo.train.twins.twin import Twin, put

# Units of one dimension, each with its names and its size in the first one.
UNITS: tuple[dict[str, float], ...] = (
    {'metres': 1, 'meters': 1, 'feet': 0.3048, 'kilometres': 1000, 'kilometers': 1000,
     'miles': 1609.34, 'centimetres': 0.01, 'inches': 0.0254, 'yards': 0.9144},
    {'m': 1, 'km': 1000, 'cm': 0.01, 'ft': 0.3048, 'mi': 1609.34},
    {'kilograms': 1, 'kilogrammes': 1, 'grams': 0.001, 'pounds': 0.4536, 'tonnes': 1000,
     'ounces': 0.02835},
    {'kg': 1, 'g': 0.001, 'lb': 0.4536},
    {'seconds': 1, 'minutes': 60, 'hours': 3600, 'days': 86400, 'weeks': 604800,
     'months': 2629800, 'years': 31557600, 'decades': 315576000,
     'centuries': 3155760000},
    {'litres': 1, 'liters': 1, 'millilitres': 0.001, 'gallons': 3.785, 'pints': 0.568},
    {'dollars': 1, 'cents': 0.01},
    {'square kilometres': 1, 'square kilometers': 1, 'square miles': 2.59,
     'hectares': 0.01, 'acres': 0.004047},
    {'km/h': 1, 'mph': 1.609},
    {'million': 1e6, 'billion': 1e9},
)  # fmt: skip
_NUMBER = r'(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?![\d]|,\d)'
MONTHS = (
    'january|february|march|april|may|june|july|august|september|october|november|'
    'december'
)
SMALL = [*ONES, 'twenty']
PARTS = {
    50: 'half', 25: 'a quarter', 75: 'three quarters', 33: 'a third', 20: 'a fifth',
}  # fmt: skip
DECADES = {
    2: 'twenties', 3: 'thirties', 4: 'forties', 5: 'fifties', 6: 'sixties',
    7: 'seventies', 8: 'eighties', 9: 'nineties',
}  # fmt: skip


def format_value(value: float) -> str:
    """A value to about three digits, as people write it."""
    if value >= 1000:
        digits = len(str(int(value))) - 3
        return f'{round(value, -digits):,.0f}'
    return f'{value:.3g}'


def change_unit(text: str, rng: random.Random) -> Twin | None:
    """Make a twin by converting the first measure of a text to another unit."""
    for family in rng.sample(UNITS, len(UNITS)):
        names = '|'.join(sorted(map(re.escape, family), key=len, reverse=True))
        match = re.search(rf'{_NUMBER}([ -]?)({names})(?!\w)', text, re.IGNORECASE)
        if not match:
            continue
        digits = match[1] + (match[2] or '')
        value = float(digits.replace(',', ''))
        size = family[match[4].lower()]
        other_units = {
            n: s for n, s in family.items() if s != size and 1 / 100 < s / size < 100
        }
        if not other_units:
            continue
        unit = rng.choice(list(other_units))
        converted = value * size / other_units[unit]
        wrong = put(text, match, f'{digits}{match[3] or " "}{unit}')
        right = text
        if 0.3 <= converted <= 1e6 and unit != 'months':
            right = put(text, match, f'about {format_value(converted)} {unit}')
            if rng.random() < 0.4:
                other = format_value(converted * rng.choice((0.1, 0.3, 3.0, 10.0)))
                wrong = put(text, match, f'about {other} {unit}')
        return Twin('unit', right, wrong)
    return None


def exchange_numbers(text: str, rng: random.Random) -> Twin | None:
    """Make a twin by exchanging two numbers of a text."""
    numbers = list(re.finditer(_NUMBER, text))
    numbers = [m for m in numbers if text[max(0, m.start() - 1)] not in '$£€-–']
    if len({m[0] for m in numbers}) < 2:
        return None
    first, second = sorted(rng.sample(numbers, 2), key=lambda m: m.start())
    # A list of numbers ("in 1990 and 1994") says the same in any order.
    between = text[first.end() : second.start()]
    if first[0] == second[0] or len(re.findall(r'[a-z]{3,}', between)) < 2:
        return None
    wrong = (
        text[: first.start()] + second[0] + between + first[0] + text[second.end() :]
    )
    return Twin('numbers exchanged', text, wrong)


def change_number(text: str, rng: random.Random) -> Twin | None:
    """Make a twin by restating a number: in words, rounded, as a bound or a decade."""
    numbers = list(re.finditer(_NUMBER + r'( percent| per cent|%)?', text))
    if not numbers:
        return None
    match = rng.choice(numbers)
    value = float((match[1] + (match[2] or '')).replace(',', ''))
    before = text[: match.start()].lower()
    # What already has a bound, or is part of a date, a name or a larger number.
    if re.search(
        rf"(than|over|about|least|most|to|nearly|around|{MONTHS}|[$£€'#-]|[a-z]\.) ?$",
        before,
    ):
        return None
    if re.match(
        rf'(st|nd|rd|th|s\b|-|:|/| (?:million|billion|trillion|{MONTHS}))',
        text[match.end() :].lower(),
    ):
        return None
    right, wrong = _restate(value, match, before, rng)
    if not right:
        return None
    return Twin('number', put(text, match, right), put(text, match, wrong))


def _restate(
    value: float, match: re.Match[str], before: str, rng: random.Random
) -> tuple[str, str]:
    whole = value == int(value)
    number = int(value)
    if match[3]:
        if whole and number in PARTS and rng.random() < 0.7:
            wrong = rng.choice([p for n, p in PARTS.items() if n != number])
            return PARTS[number], wrong
        off = min(99, max(1, round(value * rng.choice((0.5, 1.5, 0.3)))))
        return f'about {value:g}{match[3]}', f'{off}{match[3]}'
    if whole and ',' not in match[0] and 1100 <= number <= 2029 and len(match[1]) == 4:
        return _year(number, before, rng)
    if whole and 2 <= number <= 20:
        other = rng.choice([n for n in range(2, 21) if n != number])
        form: Callable[[int], str] = rng.choice((SMALL.__getitem__, str))
        return SMALL[number], form(other)
    if value < 21:
        return '', ''
    step = 10 ** (len(str(number)) - 1)
    low = number // step * step
    high = low + step
    if low == number:
        return match[0], f'{number * rng.choice((2, 3, 10)):,}'
    right = rng.choice((f'more than {low:,}', f'over {low:,}', f'fewer than {high:,}'))
    wrong = rng.choice((f'more than {high:,}', f'fewer than {low:,}', f'over {high:,}'))
    return right, wrong


def _year(year: int, before: str, rng: random.Random) -> tuple[str, str]:
    if not before.endswith('in '):
        return str(year), str(year + rng.choice((-30, -11, -3, 4, 12, 25)))
    decade, late = year // 10 % 10, year // 100 == 19
    away = rng.choice((-20, -10, 10, 20))
    if late and decade in DECADES and rng.random() < 0.5:
        right = DECADES[decade]
        wrong = DECADES.get((year + away) // 10 % 10, 'sixties')
        return f'the {right}', f'the {wrong}' if wrong != right else 'the 1890s'
    if rng.random() < 0.5:
        return f'the {year // 10 * 10}s', f'the {(year + away) // 10 * 10}s'
    century = (year - 1) // 100 + 1
    return (
        f'the {_ordinal(century)} century',
        f'the {_ordinal(century - rng.choice((1, -1, 2)))} century',
    )


def _ordinal(n: int) -> str:
    return f'{n}{"st" if n == 21 else "nd" if n == 22 else "th"}'


def quantity_twins(text: str, rng: random.Random) -> list[Twin]:
    """Make all twins of a text by its quantities."""
    changes = (change_unit, exchange_numbers, change_number)
    twins = (change(text, rng) for change in changes)
    return [t for t in twins if t and t.right.lower() != t.wrong.lower()]
