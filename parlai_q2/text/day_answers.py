"""
Replies to questions for the opening hours of a day, "Are you open on Sundays?", by the
sentences that schedules have for it (:mod:`parlai_q2.text.schedules`).
"""

import re

from parlai_q2.text.hours import CLOSED, lines_of
from parlai_q2.text.questions import is_yes_no_question
from parlai_q2.text.schedules import DAYS, MONTH, Hours, find_hours, read_hour

_ASKS_HOURS = re.compile(
    r'\b(?:open|opens|opening|clos\w+|hours|shut'
    r'|(?:can|could|may) (?:i|we) (?:come|visit))\b',
    re.I,
)
# Parts of a day, from an hour to another; questions about nights, holidays and dates
# are left alone, and replies about many days.
_PARTS = {'morning': Hours(5, 12), 'afternoon': Hours(12, 18), 'evening': Hours(18, 24)}
_PARTLY = re.compile(
    rf'\b(?:{MONTH}|noon|nights?|holidays?|\d\d?(?:st|nd|rd|th))\b', re.I
)
_OF_SEVERAL = re.compile(
    rf'\b(?:daily|every|each|except)\b'
    rf'|day\w*\s?(?:-|to|through|till|until)\s(?:{"|".join(DAYS)})',
    re.I,
)
_DAY = re.compile(rf'{"|".join(DAYS)}|week-?end|week-?day', re.I)
# What events lack: "Yoga: on Sunday from 9 to 12".
_OF_PLACE = re.compile(r'\b(?:opens?|closed)\b')
_YES_OR_NO = re.compile(r'\W*(yes|yeah|sure|no)\b', re.I)
_TIME = re.compile(r'\b(?:\d\d?(?:[:.]\d\d)?(?: ?[ap]\.?m\b)?|noon|midnight)', re.I)
_OF_END = re.compile(r'\b(?:clos\w+|until|till|late|shut)\b', re.I)
_OF_START = re.compile(r'\b(?:opens?|from|early|starts?)\b', re.I)


def fits_day(
    knowledge: str, question: str, reply: str, earlier: str = ''
) -> bool | None:
    """
    Whether a reply says what the knowledge's sentences for a day say, if a question
    asks for opening hours on that day; None if this cannot be told.

    :param earlier: the question that a short one leans on: "And on Sundays?".

    >>> knowledge = 'On Sunday it is closed.\\nOn Monday it is open from 9:00 to 17:00.'
    >>> fits_day(knowledge, 'Are you open on Sunday?', 'No, only on Mondays.')
    True
    >>> fits_day(knowledge, 'Are you open on Sunday?', 'We open on Mondays at 9.')
    False
    """
    asks = f'{earlier} {question}'
    asked = _days_of(question)
    if len(asked) != 1 or _PARTLY.search(question) or not _ASKS_HOURS.search(asks):
        return None
    (day,) = asked
    lines = _lines_for(knowledge, day, asks)
    are_closed = {'closed' in line for line in lines}
    if len(are_closed) != 1 or _OF_SEVERAL.search(reply):
        return None
    asks_whether = is_yes_no_question(question) or is_yes_no_question(earlier)
    says = _YES_OR_NO.match(reply) if asks_whether else None
    if not says and _days_of(reply) and day not in _days_of(reply):
        return False
    times = bool(_TIME.search(reply))
    is_closed = CLOSED.search(reply) is not None
    if says and not is_closed and not times:
        is_closed = (says[1].lower() == 'no') != ('close' in asks.lower())
    known = [hours for line in lines for hours in find_hours(line)]
    for name, part in _PARTS.items():
        if name in question.lower():
            known = [h for h in known if h.start < part.end and part.start < h.end]
    if not known or is_closed:
        fits = is_closed and not known
        return fits if is_closed or says or times else None
    asked_end = '' if asks_whether else _end_of(asks)
    return _has_hours(reply, known, asked_end) if times else None


def _lines_for(knowledge: str, day: str, question: str) -> list[str]:
    """The sentences for a day of the place that a question is about."""
    lines = lines_of(knowledge, day, question)
    if not lines:
        # A single place is meant, whatever the question calls it.
        lines = lines_of(knowledge, day, '')
        lines = lines if len(lines) == 1 else []
    return [line for line in lines if _OF_PLACE.search(line)]


def _days_of(text: str) -> set[str]:
    names = {match[0].capitalize().replace('-', '') for match in _DAY.finditer(text)}
    if 'Weekend' in names:
        names |= {*DAYS[5:]}
    return names | {*DAYS[:5]} if 'Weekday' in names else names


def _has_hours(reply: str, known: list[Hours], asked: str) -> bool | None:
    """Whether a reply has the known hours, or the end of them that is asked for."""
    if told := find_hours(reply):
        return all(any(_are_same(hours, other) for other in known) for hours in told)
    said = _end_of(reply)
    if asked and said and asked != said:
        return False
    if not (end := asked or said):
        return None
    ends = [getattr(hours, end) for hours in known]
    times = [match[0] for match in _TIME.finditer(reply)]
    return all(any(_is_at(time, hour) for hour in ends) for time in times)


def _end_of(text: str) -> str:
    """Which end of hours a text speaks of; empty if it does not say that."""
    if _OF_END.search(text):
        return 'end'
    return 'start' if _OF_START.search(text) else ''


def _are_same(hours: Hours, other: Hours) -> bool:
    """Whether hours are the same, on a clock of twelve."""
    differences = (hours.start - other.start, hours.end - other.end)
    return all(difference % 12 == 0 for difference in differences)


def _is_at(time: str, hour: float) -> bool:
    """Whether a time of day is an hour; without "am" or "pm", before noon or after."""
    told = read_hour(time)
    is_certain = told >= 13 or time.lower().rstrip('.').endswith('m')
    return told == hour or (not is_certain and told + 12 == hour)
