"""
Compares the amounts of a response with those of its knowledge: which agree, and which
the knowledge cannot support (:func:`unsupported_amounts`).
"""

import math
import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, islice

from parlai_q2.text.amounts import Amount, find_amounts, is_rate
from parlai_q2.text.units import CENT, CLOCK, CURRENCIES, FREQUENCY, UNITS

# How far values may be apart and agree: exact ones are rounded to three digits, and a
# bound is told of a value that is not much beyond it.
EXACT, ROUGH, BOUND = 0.006, 0.04, 0.25
# Degrees Celsius that may lie between two readings of one temperature.
DEGREES = 0.6
# Of more amounts than this, some pair has any sum.
MOST_COMBINED = 8
# A small number in words may count what the knowledge lists without a number.
MOST_COUNTED = 12
# The most amounts of one unit near a value that are compared with it.
MOST_COMPARED = 100
# Pounds are money or a weight; degrees may be those of Celsius.
_ONE_WORD = ({'mass', 'sterling'}, {'degrees', 'temperature'})
_SAME_ATTRIBUTE = {'tall': 'high'}
# "A ten-year-old" is any person of that age.
_AGE = re.compile(r'a (?:\w+[ -])?\w+[ -]years?[ -]old')
_PERIODS = re.compile(
    r'\b(?:hourly|daily|weekly|monthly|yearly|annual(?:ly)?|every|each)\b', re.I
)
# "If you cancel less than 48 hours before" is what "48 hours before" leaves.
_CONDITION = re.compile(
    r'\b(?:if|when|unless|before|after|within|later|earlier|who|those|otherwise)\b',
    re.I,
)
_DENIES = re.compile(r"\b(?:no|not|nobody|never|none|cannot|unless)\b|n['’]t\b", re.I)


class AmountIndex:
    """
    The amounts of a text, to find those that agree with another in logarithmic time.

    :ivar amounts: all of them, in order.
    :ivar has_periods: whether the text says "weekly" or the like, once a week.
    """

    def __init__(self, text: str):
        self.amounts = find_amounts(text)
        self.has_periods = _PERIODS.search(text) is not None
        self.dimensions = {amount.dimension for amount in self.amounts}
        self.bounded = {amount.dimension for amount in self.amounts if amount.bound}
        halves = [a for a in self.amounts if a.dimension and a.digits % 1 == 0.5]
        self.halved = {(half.dimension, half.size) for half in halves}
        # Numbers (of a range both ends) and positions, sorted; with and without units.
        by_unit: dict[tuple[str, float], list[tuple[float, int]]] = defaultdict(list)
        by_digits: list[tuple[float, int]] = []
        for n, amount in enumerate(self.amounts):
            unit = amount.dimension, amount.size
            by_unit[unit] += {(amount.value, n), (amount.top, n)}
            by_digits += {(amount.digits, n), (amount.high or amount.digits, n)}
            by_digits += {(hour, n) for hour in _hours(amount)}
        self._by_unit = {unit: sorted(values) for unit, values in by_unit.items()}
        self._by_digits = sorted(by_digits)
        self._ranges = [n for n, a in enumerate(self.amounts) if a.high is not None]

    def matches(self, stated: Amount) -> list[Amount]:
        """The amounts that agree with one of a response, in order."""
        near = sorted(set(self._near(stated)))
        return [self.amounts[n] for n in near if agrees(self.amounts[n], stated)]

    def has(self, stated: Amount) -> bool:
        """Whether an amount agrees with one of a response, or two with its hours."""
        if any(agrees(self.amounts[n], stated) for n in self._near(stated)):
            return True
        is_hours = stated.dimension == CLOCK and stated.high is not None
        return is_hours and all(map(self.has, split_range(stated)))

    def with_digits(self, stated: Amount) -> list[Amount]:
        """The amounts with the same digits, whatever their units."""
        near = _between(self._by_digits, stated.digits, stated.digits)
        amounts = [self.amounts[n] for n in near]
        return [a for a in amounts if math.isclose(a.digits, stated.digits)]

    def _near(self, stated: Amount) -> Iterator[int]:
        """The positions of amounts that may agree with one of a response."""
        if not self.amounts:
            return
        for hour in _hours(stated):
            yield from _between(self._by_digits, hour, hour)
        low, high = _neighbourhood(stated, stated.value)
        for (dimension, size), values in self._by_unit.items():
            if dimension != stated.dimension and not _are_cents(
                (dimension, size), stated
            ):
                continue
            if size == stated.size and not (stated.rough or stated.bound):
                yield from _between(values, stated.value, stated.value)
            else:
                yield from _between(values, low, high)
        # One of the two may have no unit.
        low, high = _neighbourhood(stated, stated.digits)
        yield from _between(self._by_digits, low, high)
        if stated.rough:
            yield from islice(self._ranges, MOST_COMPARED)


def _neighbourhood(stated: Amount, value: float) -> tuple[float, float]:
    """What a value may agree with, at most."""
    if stated.dimension == 'temperature':
        return value - DEGREES, value + DEGREES
    is_rough = stated.rough or stated.dimension == 'share'
    share = BOUND if stated.bound else ROUGH if is_rough else EXACT
    return value - abs(value) * share, value + abs(value) * share


def _between(
    values: Sequence[tuple[float, int]], low: float, high: float
) -> Iterator[int]:
    slack = 1e-9 * max(abs(low), abs(high))
    first = bisect_left(values, (low - slack, -1))
    last = bisect_right(values, (high + slack, len(values) << 32))
    return (n for _, n in islice(values, first, min(last, first + MOST_COMPARED)))


# The amounts of a text, indexed once: statements are compared with several parts of it.
index_amounts = lru_cache(maxsize=64)(AmountIndex)


def agrees(reference: Amount, stated: Amount) -> bool:
    """
    Whether an amount of a response is one of its knowledge: in its own unit exactly, in
    another or in words up to rounding; or "more than" what is not much less. A number
    without a unit may stand for one with a unit ("sixty-four" for "64 years"). An end
    of a range is not the range, unless that is one of years.
    """
    if reference.are_dates and stated.high is None:
        return stated.value in (reference.value, reference.top)
    is_time = CLOCK in (reference.dimension, stated.dimension)
    if is_time and not (reference.dimension and stated.dimension):
        # "Open 9 to 5" says nothing of hours.
        reference = reference._replace(dimension=CLOCK)
        stated = stated._replace(dimension=CLOCK)
    if _are_cents((reference.dimension, reference.size), stated):
        reference = reference._replace(dimension=stated.dimension)
    if reference.dimension != stated.dimension:
        dimensions = {reference.dimension, stated.dimension}
        if '' not in dimensions and dimensions not in _ONE_WORD:
            return False
        reference, stated = _without_unit(reference), _without_unit(stated)
    if is_time and reference.high is not None and stated.high is None:
        is_inside = reference.value <= stated.value <= reference.top
        is_end = any(
            is_same_time(end.value, stated.value) and not _measures_another(end, stated)
            for end in split_range(reference)
        )
        return is_end or (stated.rough and is_inside)
    if reference.bound * stated.bound < 0 or _measures_another(reference, stated):
        return False
    if (reference.high is None) != (stated.high is None):
        # About a range, or a bound at its end: "about 4 days", "up to 5 days".
        is_inside = reference.value <= stated.value <= reference.top
        is_end = bool(stated.bound) and stated.value in (reference.value, reference.top)
        return stated.high is None and ((stated.rough and is_inside) or is_end)
    if reference.high is not None and not _is_near(
        reference, reference.top, stated.top, stated
    ):
        return False
    return _is_near(reference, reference.value, stated.value, stated)


def _are_cents(unit: tuple[str, float], stated: Amount) -> bool:
    """Whether of two units one is the cent and the other the euro."""
    units = (unit, (stated.dimension, stated.size))
    return CENT in units and any(dimension == 'euros' for dimension, _ in units)


def split_range(amount: Amount) -> tuple[Amount, Amount]:
    """The ends of a range."""
    low = amount._replace(high=None, attribute=amount.low_attribute)
    return low, amount._replace(high=None, number=amount.high or amount.number)


def _is_fraction(amount: Amount) -> bool:
    """Whether an amount is "a third of", and not a percentage."""
    return amount.dimension == 'share' and amount.size > 1


def _measures_another(reference: Amount, stated: Amount) -> bool:
    has_both = bool(reference.attribute and stated.attribute)
    return has_both and measured(reference) != measured(stated)


def measured(amount: Amount) -> str:
    """What an amount measures, "high" for "tall"; empty if the text does not say it."""
    return _SAME_ATTRIBUTE.get(amount.attribute, amount.attribute)


def _is_near(
    reference: Amount, value: float, stated_value: float, stated: Amount
) -> bool:
    if reference.dimension != CLOCK and not (value and stated_value):
        return value == stated_value
    apart = (value - stated_value) / (abs(stated_value) or 1.0)  # of midnight
    if stated.bound and not reference.bound and not stated.is_limit:
        return 0 < apart * stated.bound <= BOUND
    if reference.dimension == CLOCK and not (reference.attribute and stated.attribute):
        # Half past nine may be at night.
        return is_same_time(value, stated_value)
    if reference.dimension == 'temperature':
        return abs(value - stated_value) <= DEGREES
    if reference.size != stated.size and reference.dimension == 'share':
        return abs(apart) <= ROUGH  # a third, or 33 percent
    is_exact = reference.size == stated.size or reference.dimension in CURRENCIES
    if is_exact and not stated.rough:
        return math.isclose(value, stated_value)
    return abs(apart) <= (ROUGH if stated.rough else EXACT)


def is_same_time(hour: float, other: float) -> bool:
    return math.isclose(hour % 12, other % 12, abs_tol=1e-9)


def _hours(amount: Amount) -> set[float]:
    """The hours that a time of day may be written as."""
    if amount.dimension != CLOCK:
        return set()
    halves = {amount.value % 12, amount.top % 12}
    return halves | {hour + 12 for hour in halves}


def _without_unit(amount: Amount) -> Amount:
    return amount._replace(dimension='', size=1.0, number=amount.digits)


# A statement is compared with several parts of its knowledge, and again for mistakes.
@lru_cache(maxsize=512)
def unsupported_amounts(knowledge: str, response: str) -> tuple[Amount, ...]:
    """
    The amounts of a response that the knowledge cannot support: none of its amounts
    agrees with them, and none of their sums, differences and shares.

    Left to the detector are bounds and rounded amounts, and small numbers in words,
    which may count what the knowledge lists.

    >>> [a.number for a in unsupported_amounts('It has 3-5 floors.', 'It has 3 or 7.')]
    [3.0, 7.0]
    """
    stated_amounts = find_amounts(response)
    if not stated_amounts:
        return ()
    index = index_amounts(knowledge)
    return tuple(a for a in stated_amounts if not _may_be_supported(a, response, index))


def _may_be_supported(stated: Amount, response: str, index: AmountIndex) -> bool:
    if index.has(stated):
        return True
    if (stated.dimension == FREQUENCY or _is_fraction(stated)) and not (
        stated.rough or stated.bound
    ):
        # Others may be counted, or told in other words.
        known = stated.dimension in index.dimensions and not (
            stated.number == 1 and index.has_periods
        )
        return not known or _is_derived(stated, index.amounts)
    if _has_other_unit(stated, index):
        return False
    return (
        _is_loose(stated, response, index)
        # What is written as a range may be two amounts of the knowledge.
        or (stated.high is not None and all(map(index.has, split_range(stated))))
        or _is_derived(stated, index.amounts)
    )


def conflicts(knowledge: str, response: str) -> bool:
    """
    Whether a response has an unsupported amount in a unit of what the knowledge
    measures, too. Bare numbers may count something else.
    """
    unsupported = unsupported_amounts(knowledge, response)
    if not unsupported:
        return False
    measured = index_amounts(knowledge).dimensions - {''}
    return any(stated.dimension in measured for stated in unsupported)


def _is_loose(stated: Amount, response: str, index: AmountIndex) -> bool:
    if stated.rough:
        return True
    unit = stated.dimension, stated.size
    if (
        stated.bound
        and not stated.is_limit
        and _is_exactly(stated, index)
        and not _CONDITION.search(response)
    ):
        return False  # "more than 2 years" of 2 years
    if stated.bound:
        # Of two bounds, the numbers must agree; one may deny the other: "nobody under
        # 16" are those "aged 16 and over".
        if stated.dimension not in index.bounded:
            return True
        opposite = [a for a in index.with_digits(stated) if a.bound == -stated.bound]
        is_opposite = any((a.dimension, a.size) == unit for a in opposite)
        return is_opposite and _DENIES.search(response) is not None
    if is_hour_in_words(stated):
        return True
    if stated.is_words and stated.high is None:
        # "A day" is rarely a measure, unless the knowledge has "half a day".
        most = 1 if stated.dimension else MOST_COUNTED
        is_halved = stated.digits == 1 and unit in index.halved
        is_measure = is_halved and not is_rate(response, stated.start)
        if stated.digits <= most and not is_measure:
            return True
    return _AGE.match(response, max(0, stated.start - 2)) is not None


def _is_exactly(stated: Amount, index: AmountIndex) -> bool:
    """Whether the knowledge has the number of a bound, and nothing beyond it."""
    alike = [a for a in index.amounts if a.dimension == stated.dimension]
    return any(
        a.value == stated.value and a.high is None and not (a.bound or a.rough)
        for a in alike
    ) and not any((a.top - stated.value) * stated.bound > 0 for a in alike)


def is_hour_in_words(amount: Amount) -> bool:
    """Whether an amount is "noon" or "midnight", which may be any hour about it."""
    return amount.is_words and amount.dimension == CLOCK and amount.high is None


def _has_other_unit(stated: Amount, index: AmountIndex) -> bool:
    """Whether the knowledge has the same digits with a unit of another size."""
    if stated.dimension in ('', CLOCK):
        return False
    unit = (stated.dimension, stated.value)
    alike = index.with_digits(stated)
    return any(a.dimension and (a.dimension, a.value) != unit for a in alike)


def _is_derived(stated: Amount, amounts: Sequence[Amount]) -> bool:
    """Whether an amount is a sum, a difference or a share of two of the knowledge."""
    ends = [e for a in amounts for e in (split_range(a) if a.are_dates else (a,))]
    if not 2 <= len(ends) <= MOST_COMBINED:
        return False
    return any(_gives(first, second, stated) for first, second in combinations(ends, 2))


def _gives(first: Amount, second: Amount, stated: Amount) -> bool:
    target = stated.value
    if stated.dimension == 'share':
        quotients = ((first.value, second.value), (second.value, first.value))
        return any(
            abs(100 * part / whole - target) <= ROUGH * target
            for part, whole in quotients
            if whole
        )
    if {first.dimension, second.dimension} == {'', 'time'} and not stated.dimension:
        year, span = (first, second) if not first.dimension else (second, first)
        years = span.value / UNITS['year'][1]
        if abs(abs(target - year.value) - years) < 0.5:
            return True
    if first.dimension != second.dimension:
        return False
    # The difference of two years is a time.
    is_years = stated.dimension == 'time' and not first.dimension
    if not is_years and first.dimension != stated.dimension and stated.dimension:
        return False
    unit = stated.size if is_years else 1.0
    for value in (first.value + second.value, abs(first.value - second.value)):
        near = stated._replace(rough=True, number=value * unit / stated.size)
        if _is_near(near, value * unit, target, stated) and value:
            return True
    return False
