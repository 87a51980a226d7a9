"""
Opening hours: who closes at 4 pm is open until then.

Detectors read "it closes at 4 pm" as contradicted by "it is open from 10 am to 4 pm".
So what a statement says of one end of these hours is read as all of them, which says
more: "it is open from 10 am to 4 pm". The wrong end stays as it is. What a statement
says of a day is compared with the sentences that schedules have for that day
(:mod:`parlai_q2.text.schedules`).
"""

import re
from collections.abc import Iterable, Sequence

from parlai_q2.text.agreement import index_amounts, is_same_time
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.schedules import DAYS, MONTH, OF_A_DAY
from parlai_q2.text.selection import stems
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
CLOSED = re.compile(r"\b(?:closed|not open)\b|n['’]t open\b", re.IGNORECASE)
_IS_OPEN = re.compile(r'\b(?:is|are|we\'re|it\'s) open\b', re.IGNORECASE)
# What a statement may say of a part of a day, or of some days of a kind only.
_PARTLY = re.compile(
    rf'\b(?:{MONTH}|mornings?|noon|afternoons?|evenings?|nights?|lunch|dinner|holidays?'
    r'|christmas|easter|summer|winter|spring|autumn|season|sometimes|often|usually)\b',
    re.IGNORECASE,
)
_DATE = rf',? (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {MONTH}|,? {MONTH} \d'
_OF_HOURS = stems(
    ' '.join(DAYS) + ' open closed closes opens hours until till weekdays'
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


def contradicts_schedule(knowledge: str, statement: str) -> bool:
    """
    Whether a statement says of a day what the knowledge's sentences for that day deny.

    >>> knowledge = 'On Monday the shop is open from 9:00 to 17:00.'
    >>> contradicts_schedule(knowledge, 'We are closed on Mondays.')
    True
    >>> contradicts_schedule(knowledge, 'On Mondays the shop closes at 6 pm.')
    True
    """
    days = [day for day in DAYS if day in statement]
    if not days or _PARTLY.search(statement):
        return False
    if any(_has_only_dates(knowledge, day) for day in days if f'{day}s' in statement):
        return True
    return any(_denies(lines_of(knowledge, day, statement), statement) for day in days)


def lines_of(knowledge: str, day: str, text: str) -> list[str]:
    """The knowledge's sentences for a day, of those that are on a text's topic."""
    lines = [m[0] for m in OF_A_DAY.finditer(knowledge) if day in m[0]]
    if not (about := _subjects_of(text)):
        return lines
    subjects = map(_subjects_of, lines)
    return [
        line
        for line, subject in zip(lines, subjects, strict=True)
        if not subject or about & subject
    ]


def _subjects_of(text: str) -> set[str]:
    """The stems of what a text says besides days and hours."""
    return {word for word in stems(text) - _OF_HOURS if word.isalpha()}


def _has_only_dates(text: str, day: str) -> bool:
    """Whether a text names a day only with a date: "Monday, 25 December"."""
    dates = len(re.findall(f'{day}{_DATE}', text, re.IGNORECASE))
    return 0 < dates == text.count(day)


def _denies(lines: Sequence[str], statement: str) -> bool:
    """Whether all of what a schedule says of a day is not what a statement says."""
    is_open = ['closed' not in line for line in lines]
    if not lines or any(is_open) != all(is_open):
        return False
    if CLOSED.search(statement):
        return all(is_open)
    # "From 14 to 18" may have no unit.
    amounts = find_amounts(statement)
    times = [a for a in amounts if a.dimension == CLOCK or (a.high and not a.dimension)]
    if not all(is_open):
        return bool(times) or _IS_OPEN.search(statement) is not None
    known = [a for line in lines for a in find_amounts(line) if a.dimension == CLOCK]
    return bool(known) and any(
        _is_other_end(statement, time, known, end)
        for time in times
        for end in ('value', 'top')
    )


def _is_other_end(
    statement: str, time: Amount, known: Sequence[Amount], end: str
) -> bool:
    """Whether a time is an end of opening hours, but none of those that are known."""
    pattern = _BEFORE_END if end == 'top' else _BEFORE_BEGINNING
    before = statement[max(0, time.start - _LOOKED_AT) : time.start]
    is_end = time.high is not None or pattern.search(before) is not None
    hours = getattr(time, end)
    return is_end and not any(is_same_time(getattr(a, end), hours) for a in known)


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
