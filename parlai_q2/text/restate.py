"""
Puts the amounts of a response as its knowledge has them. Detectors read numbers as
tokens, and take "90 minutes" and "an hour and a half" for two.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial

from parlai_q2.text.agreement import AmountIndex, index_amounts, is_same_time
from parlai_q2.text.amounts import RANGE_DASH, Amount, find_amounts, scan_amounts
from parlai_q2.text.units import CLOCK

# Ages are written alike ("a 12-year-old"), and so are years.
_OLD = re.compile(r'[ -]olds?\b')
# The full stop of "p.m." inside a sentence.
_GOES_ON = re.compile(r'\.(?=,? [a-z0-9(]|[-,;])')


def restate(knowledge: str, response: str) -> str:
    """
    A response with every amount that agrees with one of the knowledge put as the
    knowledge has it: "90 minutes" for "about an hour and a half".
    """
    stated_amounts = find_amounts(response)
    index = index_amounts(knowledge) if stated_amounts else None
    if not index or not index.amounts:
        return response
    parts: list[str] = []
    place = 0
    for stated in _split_unknown_ranges(stated_amounts, response, index):
        matches = index.matches(stated)
        if not matches or _OLD.match(response, stated.end):
            continue
        # Of several that agree, one that is written alike.
        match = min(matches, key=partial(_is_unlike, stated))
        if match.are_dates:
            continue
        start, quote = stated.qualified_start, _quote(knowledge, match, stated)
        if (match.bound, match.rough) == (stated.bound, stated.rough):
            if stated.bound:
                words = knowledge[match.qualified_start : match.start]
                if words.endswith('is '):
                    continue  # "the minimum age is"
                quote = words + quote
            else:
                start = stated.start
        parts.append(response[place:start])
        quote, place = _fit_full_stop(quote, response, stated.end)
        parts.append(quote)
    return ''.join([*parts, response[place:]])


def _is_unlike(stated: Amount, amount: Amount) -> tuple[bool, bool]:
    return amount.dimension != stated.dimension, amount.size != stated.size


def _split_unknown_ranges(
    stated_amounts: Sequence[Amount], response: str, index: AmountIndex
) -> Iterator[Amount]:
    """Amounts, with the ends of times of day that are no range of the knowledge."""
    for stated in stated_amounts:
        is_hours = stated.dimension == CLOCK and stated.high is not None
        if is_hours and not index.matches(stated):
            ends = scan_amounts(response)
            yield from (end for end in ends if stated.start <= end.start < stated.end)
        else:
            yield stated


def _quote(knowledge: str, match: Amount, stated: Amount) -> str:
    """An amount as the knowledge has it; of a range of times, the end that is meant."""
    text = knowledge[match.start : match.end]
    is_time = CLOCK in (stated.dimension, match.dimension)
    if not is_time or stated.high is not None or match.high is None:
        return text
    first, *rest = RANGE_DASH.split(text)
    first = first.removesuffix('.')
    is_low = is_same_time(match.value, stated.value)
    if stated.attribute and is_same_time(match.value, match.top):
        is_low = match.value == stated.value  # "9 am to 9 pm"
    return first if not rest or is_low else rest[-1]


def _fit_full_stop(quote: str, response: str, end: int) -> tuple[str, int]:
    """A quote with the full stop of "p.m.", and where the response goes on."""
    if quote.endswith('.m'):
        return quote + '.' * (not response.startswith('.', end)), end
    is_inside = response.endswith('.m', 0, end) and _GOES_ON.match(response, end)
    return quote, end + bool(is_inside)
