"""
Opening hours: who closes at 4 pm is open until then.

Detectors read "it closes at 4 pm" as contradicted by "it is open from 10 am to 4 pm".
So what a statement says of one end of these hours is read as all of them, which says
more: "it is open from 10 am to 4 pm". The wrong end stays as it is.
"""

import re
from collections.abc import Iterable

from parlai_q2.text.agreement import index_amounts, is_same_time
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.schedules import DAYS
from parlai_q2.text.units import CLOCK

_OPEN = re.compile(r'\bopen(?:s|ing)?\b', re.IGNORECASE)
# Not that of "a.m."
_SENTENCE_END = re.compile(r'(?<!\.m)[.!?]\s|\n', re.IGNORECASE)
# What stands before the end, and before the beginning, of the time for which something
# is open; the form of "be" that fits.
_FINITE = ''.join(
    rf'(?<!\b{word} )' for word in 'is are be to not will must may can could'.split()
)
_CLOSES = rf'(?P<one>closes|shuts)|{_FINITE}(?P<several>close|shut)'
_BEFORE_END = re.compile(
    rf'\b(?:(?:{_CLOSES})(?: at)?'
    r'|(?P<open>(?:is|are|stays?) open)(?: until| till| to)) $',
    re.IGNORECASE,
)
_BEFORE_BEGINNING = re.compile(
    rf'\b(?:(?:(?P<one>opens)|{_FINITE}(?P<several>open))(?: at)?'
    r'|(?P<open>(?:is|are) open) from) $',
    re.IGNORECASE,
)
# The longest text that these match, and the longest before some hours.
_LOOKED_AT, _SENTENCE_LENGTH = 24, 200


def complete_hours(knowledge: str, statement: str) -> str:
    """
    A statement with all opening hours of the knowledge where it has one end of them.

    >>> complete_hours('Open from 10 am to 4 pm.', 'The shop closes at 4 pm.')
    'The shop is open from 10 am to 4 pm.'
    """
    times = [
        amount
        for amount in find_amounts(statement)
        if amount.dimension == CLOCK and amount.high is None
    ]
    if not times or not _OPEN.search(knowledge):
        return statement
    ranges = [
        amount
        for amount in index_amounts(knowledge).amounts
        if amount.dimension == CLOCK
        and amount.high is not None
        and _is_of_opening(knowledge, amount)
    ]
    if days := {day for day in DAYS if day in statement and day in knowledge}:
        ranges = [hours for hours in ranges if days & _days_of(knowledge, hours)]
    # From the last one on, so that the places of the others stay right.
    for time in reversed(times):
        before = statement[max(0, time.start - _LOOKED_AT) : time.start]
        for pattern, end in ((_BEFORE_END, 'top'), (_BEFORE_BEGINNING, 'value')):
            match = pattern.search(before)
            hours = _find_hours(ranges, time, end) if match else None
            if match and hours:
                verb = match['open'] or ('is open' if match['one'] else 'are open')
                quote = f'{verb} from {knowledge[hours.start : hours.end]}'
                start = time.start - len(match[0])
                statement = statement[:start] + quote + statement[time.end :]
    return statement


def _is_of_opening(knowledge: str, hours: Amount) -> bool:
    """Whether hours are those in which something is open, and not of a happy hour."""
    before = knowledge[max(0, hours.start - _SENTENCE_LENGTH) : hours.start]
    return bool(_OPEN.search(_SENTENCE_END.split(before)[-1]))


def _days_of(knowledge: str, hours: Amount) -> set[str]:
    """The days that the sentence of some hours names before them."""
    before = knowledge[max(0, hours.start - _SENTENCE_LENGTH) : hours.start]
    sentence = _SENTENCE_END.split(before)[-1]
    return {day for day in DAYS if day in sentence}


def _find_hours(ranges: Iterable[Amount], time: Amount, end: str) -> Amount | None:
    """The first of some hours that begin (``value``) or end (``top``) at a time."""
    for hours in ranges:
        noon = hours.attribute if end == 'top' else hours.low_attribute
        is_other_half = time.attribute and noon and time.attribute != noon
        if is_same_time(getattr(hours, end), time.value) and not is_other_half:
            return hours
    return None
