"""
Spells out opening hours and the like, one sentence for each day: "Mon-Wed 9-17, Sun
closed" also becomes "On Monday it is open from 9:00 to 17:00." and so on. Detectors do
not count the days of a range, and hardly read abbreviated ones.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

DAYS = ('Monday Tuesday Wednesday Thursday Friday Saturday Sunday').split()
WEEKDAYS, WEEKEND = tuple(range(5)), (5, 6)
# More words than these before the days are no subject with a verb.
MAX_HEAD_WORDS = 12
# A label, or the line above a schedule, with more words does not name what is open.
MAX_LABEL_WORDS = 6
# The number of pieces of a schedule that are read, and of characters above each.
MAX_ENTRIES, MAX_ABOVE = 100, 1000

_DAY = (
    r'(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:s|nesday)?|thu(?:rs?(?:day)?)?|fri(?:day)?'
    r'|sat(?:urday)?|sun(?:day)?)s?\b\.?'
)
_SHORT = '(?-i:Mo|Tu|We|Th|Fr|Sa|Su)'
_SPAN = (
    rf'(?:(?:{_DAY}|{_SHORT}(?:\.|(?=\s?[-:/])))'
    rf'(?:\s?(?:-|/|to|through|thru|till|until)\s?(?:{_DAY}|{_SHORT}\b\.?))?'
    r'|week-?days?\b|week-?ends?\b|every ?day\b|daily\b|(?:7|seven) days a week\b)'
)
_AND = r'(?:, and |, | and | & |&| ?\+ ?| ?/ ?)'
_SPANS = (
    rf'{_SPAN}(?:{_AND}(?:on )?{_SPAN}){{0,6}}'
    rf'(?:{_AND}(?:on )?(?:(?:bank|public) )?holidays\b)?'
)
_EXCEPT = (
    rf'(?:except|excluding|excl\.?|apart from|(?:but )?not|but)(?: for| on)? {_SPANS}'
)
_BUT = rf'(?:,? \(?{_EXCEPT}\)?)?'
# Days of other hours ("except on Sundays, when it opens at noon") are no exception.
_BUT_CLOSED = (
    rf'(?:,? \(?{_EXCEPT}\)?'
    r'(?![\s,:(]{0,3}(?:\d|(?:from|open|until|when|where|which|is|are|we|it)\b)))?'
)
_TIME = (
    r"(?:(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\b\.?)?(?: ?(?:h|hrs|o'clock)\b)?)"
    r'|noon|midday|midnight)'
)
MONTH = (
    r'(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?'
    r'|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b'
)
_DASH = r'\s?(?:-|to|until|till)\s?'
# Behind a day's hours; what follows other numbers may be what they count.
_AFTER_HOURS = (
    r'(?![-/.]?\d)(?!\w)(?=[\s|]*(?:$|[,;.)(|&/*\n]|(?:and|but|not|except|excluding|excl'
    r'|apart|every|each|on|in|at|by|only|hours|during|(?-i:[A-Z]{2,3}T|GMT|UTC))\b'
    rf'|{_DAY}|daily|week))'
)
_RANGE = (
    rf'(?<![\d.:-])(?:{_TIME}{_DASH}{_TIME}|(?<=between ){_TIME} and {_TIME})'
    rf'{_AFTER_HOURS}'
)
_HOURS = rf'{_RANGE}(?:{_AND}(?:from )?{_RANGE}){{0,3}}'
# Of a day with another end: "from 9 to 6, on Thursdays until 8".
_UNTIL = '(?:open )?(?:only )?(?:until|till|(?:it |we )?closes? at)'
_ENTRY = re.compile(
    rf'\b(?P<days>{_SPANS}){_BUT}'
    r'(?: of (?P<owner>[^\n:|.]{1,40}?) is |[ \t:,|()-]{1,12})'
    r'(?:(?:is|are|it is|we are|we\'re) )?'
    rf'(?:(?:open )?(?:from |between )?(?P<hours>{_HOURS})'
    rf'{_BUT_CLOSED}|{_UNTIL} (?P<until>{_TIME}){_AFTER_HOURS}'
    rf'|(?P<closed>closed)\b(?!\s+(?!in|on|for|from|all|{_DAY})[a-z]))'
    rf'|(?P<hours_first>{_HOURS}),?[ \t|]{{0,4}}\(?(?:on |every |each )?'
    rf'(?P<days_after>{_SPANS})(?! {_UNTIL}\b){_BUT_CLOSED}'
    r'|(?:(?<=is )|(?<=are )|(?<=re )|(?<=s )|(?<=and )|(?<=but )|(?<!\w )(?<!\w))'
    r'closed(?: all day)?:? (?:on |at |every |each )?(?:the )?'
    # No date: "closed on Monday 6 May".
    rf'(?P<closed_days>{_SPANS})(?!,? (?:the )?\d|,? {MONTH})',
    re.I,
)
_MAY_HAVE = re.compile(
    rf'\b(?:mon|tue|wed|thu|fri|sat|sun|week|daily|every|7|seven|{_SHORT}[.:\s-])', re.I
)
_EXCEPTION = re.compile(_EXCEPT, re.I)
_SPAN_OF_DAYS = re.compile(_SPAN, re.I)
_DAY_NAME = re.compile(rf'{_DAY}|{_SHORT}\b', re.I)
_ONE_RANGE = re.compile(rf'({_TIME})(?:{_DASH}| and )({_TIME})', re.I)
_HOURS_AT_END = re.compile(rf'(?:\bfrom )?{_TIME}{_DASH}{_TIME}$', re.I)
_BOUNDARY = re.compile(r'\n|(?<!\.m\.)(?<=[.!?])\s+(?=[A-Z(])')
# Behind an entry, a day that may be an exception of a kind that is not read.
_NOT_READ = re.compile(_DAY, re.I)
_PURPOSE = re.compile(r' for [^,]+$')
_NO_NAME = re.compile(
    r"\b(?:the|our|is|are|we|it|they|you|open|opens|closed|stays?|re|s|from|on)\b|'"
)
_DIGITS = re.compile(r'(\d+)(?:[:.](\d\d))?')
_DAY_ABOVE_HOURS = re.compile(
    rf'(?im)^([ \t]*{_SPANS}:?)\n(?=[ \t]*(?:{_HOURS}|closed)[ \t]*$)'
)
# Of "8.30".
_POINT = re.compile(r'(?<=\d)\.(?=\d\d)')
_PARAGRAPH_END = re.compile(r'\n[ \t]*\n|\Z')
_CLAUSE_END = re.compile(r'[,;:()]')
_MARKS = ' \t,;:|()&+/-.\r'
# Behind what has the hours that follow, if no verb says so.
_LABEL_MARKS = (':', '(', '-', '|')
_LINKING = re.compile(
    r'^(?:and|but|or|then)\b\s*|\s*\b(?:and|but|or|from|on|at|between|every|each)$',
    re.I,
)
_QUALIFIES = re.compile(r'(?:in|on|by|with|for|during|only|except|if|not)\b', re.I)
_VERB = re.compile(
    r"\b(?:is|are|opens?|closes?|runs?|operates?|works?|stays?|be)\b|'(?:re|s) open",
    re.I,
)
_BE = re.compile(r"(?:\b(?:is|are|stays?|remains?|be)|'(?:re|s))$", re.I)
_OPEN = re.compile(r'\s*\bopen$', re.I)
_OPENS = re.compile(r'\b(?:open|opens|from|between)\b', re.I)
# What a label may name that is not open, but takes place or holds at these hours.
_EVENT = re.compile(
    r'\b(?:breakfast|brunch|choir|class(?:es)?|collections?|concerts?|courses?|deliver\w*'
    r'|dinner|happy hour|lessons?|lunch|maintenance|mass|meetings?|parking|peak'
    r'|pick-?ups?|quiet|rehears\w*|services?|sessions?|shows?|story ?time|tea|tours?'
    r'|training|workshops?|yoga)\b',
    re.I,
)
# No such number stands in a result or a date.
_CLOCK = re.compile(r'[:.]\d\d|\d ?[ap]\.?m\b|noon|midday|midnight', re.I)
_NO_SUBJECT = re.compile(
    r'\b(?:our|the|its|regular|normal|usual|opening|business|hours?|times?|open|schedule'
    r'|when|visiting|days?|of|operation)\b',
    re.I,
)
_PERIOD = re.compile(
    rf'\b(?:summer|winter|spring|autumn|season|holidays?|term|{MONTH})', re.I
)
_FIRST_WORD = re.compile(r'(?:The|We|Our|It|This|They|He|She|You|An?|All|Both|Its)\b')

_TIMES = (*(f'On {day}' for day in DAYS), 'On weekdays', 'At weekends', 'Every day')
_GROUPS = (WEEKDAYS, WEEKEND, (*WEEKDAYS, *WEEKEND))
# A sentence that is written for a day, or for all days of one kind.
OF_A_DAY = re.compile(
    rf'^(?:{"|".join(_TIMES)}|[^\n:]{{1,80}}: (?i:{"|".join(_TIMES)})) .{{1,300}}\.$',
    re.M,
)
# What texts say that are about days and hours.
_CONCERNS = re.compile(
    rf'\b(?:{_DAY}|week-?days?|week-?ends?|daily|every ?day|open|opens|opening|closed?'
    r'|closes|closing|shuts?)\b',
    re.I,
)


def concerns_days(text: str) -> bool:
    """Whether a reply or a question may be about the days and hours of a schedule."""
    return _CONCERNS.search(text) is not None


class _Entry(NamedTuple):
    """Days with their hours, empty if it is closed then, and what has them."""

    start: int
    end: int
    days: tuple[int, ...]
    hours: str
    owner: str


class DaySentence(NamedTuple):
    """
    What a schedule says of a day, or of several, and where it says so.

    :param hours: those of the entry; empty if it is closed then.
    :param name: what is open, in lower case; empty if the schedule does not say it.
    :param days_in_all: the number of days of the entry.
    """

    text: str
    start: int
    end: int
    days: tuple[int, ...]
    hours: str
    name: str
    days_in_all: int

    def overrides(self, other: 'DaySentence') -> bool:
        """Whether this holds instead: a special case of what another one says."""
        if self.days_in_all >= other.days_in_all or not {*self.days} & {*other.days}:
            return False
        is_of_one = self.name == other.name or not self.name or not other.name
        # Hours in the afternoon may be additional ones.
        return is_of_one and (not self.hours or _overlap(self.hours, other.hours))


class Hours(NamedTuple):
    """Hours after midnight from which and until which something is open."""

    start: float
    end: float


def find_day_sentences(text: str) -> list[DaySentence]:
    """
    A sentence for each day of the schedules in a text.

    >>> for sentence in find_day_sentences('We are open Sat and Sun from 10 to 4.'):
    ...     print(sentence.text)
    On Saturday we are open from 10:00 to 4:00.
    On Sunday we are open from 10:00 to 4:00.
    At weekends we are open from 10:00 to 4:00.
    """
    if not _MAY_HAVE.search(text):
        return []
    # A line with a day may stand above one with its hours.
    text = _DAY_ABOVE_HOURS.sub(r'\1 ', text)
    entries = [*islice(_find_entries(text), MAX_ENTRIES)]
    found: list[DaySentence] = []
    while entries:
        paragraph_end = _PARAGRAPH_END.search(text, entries[0].start)
        end = paragraph_end.start() if paragraph_end else len(text)
        inside = [entry for entry in entries if entry.start < end]
        found += _without_exceptions([*_write(text, inside, end)])
        entries = entries[len(inside) :]
    return [*{sentence.text: sentence for sentence in reversed(found)}.values()][::-1]


def _find_entries(text: str) -> Iterator[_Entry]:
    for match in _ENTRY.finditer(text):
        spans = match['days'] or match['days_after'] or match['closed_days']
        hours = match['hours'] or match['hours_first'] or ''
        if end := match['until']:
            before = text[max(0, match.start() - MAX_ABOVE) : match.start()]
            if not (usual := _ONE_RANGE.findall(before)):
                continue
            hours = f'{usual[-1][0]} to {end}'
        exception = _EXCEPTION.search(match[0])
        closed = _read_days(exception[0]) if exception else ()
        days = tuple(day for day in _read_days(spans) if day not in closed)
        place, owner = match.span(), match['owner'] or ''
        yield _Entry(*place, days, _read_hours(hours), owner)
        if closed:
            yield _Entry(*place, closed, '', owner)


def _read_days(text: str) -> tuple[int, ...]:
    """
    Days as numbers, Monday being 0.

    >>> _read_days('Fri-Mon')
    (4, 5, 6, 0)
    """
    days: list[int] = []
    # A colon shows that "We" is a day.
    for span in _SPAN_OF_DAYS.findall(f'{text}:'):
        names = [_number_of(name) for name in _DAY_NAME.findall(span)]
        if not names:
            word = span.lower()
            is_end = word.startswith('week') and 'end' in word
            is_week = word.startswith('week') and not is_end
            days += range(5 if is_end else 0, 5 if is_week else 7)
        elif len(names) == 1 or '/' in span:
            days += names
        else:
            count = (names[1] - names[0]) % 7 + 1
            days += [(names[0] + n) % 7 for n in range(count)]
    return tuple(dict.fromkeys(days))


def _number_of(day: str) -> int:
    return next(n for n, name in enumerate(DAYS) if name[:2].lower() == day[:2].lower())


def _read_hours(text: str) -> str:
    """ "from 9:00 to 12:00 and from 14:00 to 18:00" for "9-12, 14-18"."""
    ranges = [
        f'from {_read_time(first)} to {_read_time(last)}'
        for first, last in _ONE_RANGE.findall(text)
    ]
    return ' and '.join(ranges)


def _read_time(text: str) -> str:
    return f'{text}:00' if text.isdecimal() else _POINT.sub(':', text)


def _write(text: str, entries: Sequence[_Entry], end: int) -> Iterator[DaySentence]:
    """The sentences of a paragraph's entries, which ends somewhere."""
    head: str | None = ''
    for n, entry in enumerate(entries):
        last = entries[n - 1] if n else None
        following = entries[n + 1].start if n + 1 < len(entries) else end
        if last is None or last.end <= entry.start:
            head = entry.owner or _find_head(text, last, entry, head)
        boundary = _BOUNDARY.search(text, entry.end, max(following, entry.end) + 1)
        after = text[entry.end : boundary.start() if boundary else following]
        # A day that the same sentence names again may have other hours.
        unread = _read_days(after) if _NOT_READ.search(after) else ()
        after = _CLAUSE_END.split(after.lstrip(' ('))[0].strip(_MARKS)
        qualifier = f' {after}' if _QUALIFIES.match(after) and not unread else ''
        if head is None or not _are_hours(text[entry.start : entry.end], head):
            continue
        for days, time in _times_of([d for d in entry.days if d not in unread]):
            sentence = f'{_say(time, head, entry.hours)}{qualifier}'
            yield DaySentence(
                text=sentence.rstrip('.') + '.',
                start=entry.start,
                end=entry.end,
                days=days,
                hours=entry.hours,
                name=_NO_NAME.sub('', _name_of(head).lower()).strip(),
                days_in_all=len(entry.days),
            )


def _times_of(days: Sequence[int]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Each day of an entry, and the weekdays and the weekend if it has all of them."""
    for day in days:
        yield (day,), _TIMES[day]
    for whole, name in zip(_GROUPS, _TIMES[7:], strict=True):
        if {*whole} <= {*days}:
            yield whole, name


def _find_head(
    text: str, last: _Entry | None, entry: _Entry, last_head: str | None
) -> str | None:
    """
    What stands before an entry and says what has these hours: a subject with a verb, or
    a label; empty if nothing does, and None if the entry is of something else.
    """
    start = max(last.end if last else 0, entry.start - MAX_ABOVE)
    # A boundary is told by the letter behind it.
    boundaries = [*_BOUNDARY.finditer(text, start, entry.start + 1)]
    before = text[boundaries[-1].end() if boundaries else start : entry.start]
    # "Open from 9 to 6, on Saturdays until 4".
    head = _clean(_HOURS_AT_END.sub('', _clean(before)))
    if not head:
        is_in_line = last is not None and '\n' not in {b[0] for b in boundaries}
        return last_head if is_in_line else _heading(text, entry.start)
    if last_head is not None and last and not boundaries and _QUALIFIES.match(head):
        # "Open for lunch on Monday 12-2 and for dinner on Friday 6-10".
        is_purpose = head.startswith('for ')
        return f'{_PURPOSE.sub("", last_head)} {head}' if is_purpose else last_head
    words = len(head.split())
    if _VERB.search(head) and _name_of(head):
        return head if words <= MAX_HEAD_WORDS else None
    is_label = before.rstrip().endswith(_LABEL_MARKS) or not _name_of(head)
    return head if is_label and words <= MAX_LABEL_WORDS else None


def _are_hours(entry: str, head: str) -> bool:
    """Whether the numbers of an entry are those of a clock, and not of a result."""
    is_result = _VERB.search(head) and not _OPENS.search(f'{head} {entry}')
    return not is_result or bool(_CLOCK.search(entry)) or 'closed' in entry.lower()


def _clean(text: str) -> str:
    """A piece between entries without marks and words that only join."""
    text = text.strip(_MARKS)
    while (shorter := _LINKING.sub('', text).strip(_MARKS)) != text:
        text = shorter
    return text


def _heading(text: str, place: int) -> str:
    """The line above a schedule, if it may say what has these hours."""
    lines = text[max(0, place - MAX_ABOVE) : place].split('\n')[:-1]
    for line in reversed(lines):
        if line.strip() and not _ENTRY.search(line):
            is_short = len(line.split()) <= MAX_LABEL_WORDS
            is_other = line.rstrip().endswith(('.', '!', '?')) or '|' in line
            is_other = is_other or ':' in line.rstrip()[:-1]
            return _clean(line) if is_short and not is_other else ''
    return ''


def _say(time: str, head: str, hours: str) -> str:
    """
    What a head says of a time.

    >>> _say('On Sunday', 'The shop is open', '')
    'On Sunday the shop is closed'
    >>> _say('On Sunday', 'Library', 'from 9 to 12')
    'On Sunday the Library is open from 9 to 12'
    >>> _say('On Sunday', 'Yoga', 'from 9 to 12')
    'Yoga: on Sunday from 9 to 12'
    """
    name = _name_of(head)
    if name and _VERB.search(head):
        if _FIRST_WORD.match(head):
            head = head[0].lower() + head[1:]
        if hours:
            return f'{time} {head} {hours}'
        be = _OPEN.sub('', head)
        return f'{time} {be if _BE.search(be) else "it is"} closed'
    state = f'open {hours}' if hours else 'closed'
    if not name:
        return f'{time} it is {state}'
    labelled = f'{name}: {time[0].lower()}{time[1:]}'
    if _PERIOD.search(name):
        return f'{labelled} it is {state}'
    if _EVENT.search(name):
        return f'{labelled} {hours or "not"}'
    return f'{time} the {name} is {state}'


def _name_of(head: str) -> str:
    """A label without words that any schedule may have."""
    return _clean(_NO_SUBJECT.sub('', head))


def _without_exceptions(sentences: Sequence[DaySentence]) -> list[DaySentence]:
    """Without what holds on no day, as a more special part of a schedule says."""
    return [s for s in sentences if not any(other.overrides(s) for other in sentences)]


def _overlap(hours: str, others: str) -> bool:
    """Whether some hours lie within others: "from 9:00 to 5:00"."""
    return any(
        own.start < other.end and other.start < own.end
        for own in find_hours(hours)
        for other in find_hours(others)
    )


def find_hours(text: str) -> list[Hours]:
    """
    The hours in a text.

    >>> find_hours('on Sundays from 10 to 4')
    [Hours(start=10.0, end=16.0)]
    """
    found: list[Hours] = []
    for first, last in _ONE_RANGE.findall(text):
        start, end = read_hour(first), read_hour(last)
        if found and start < found[-1].end:
            start += 12  # "from 9 to 12 and from 2 to 5"
        found.append(Hours(start, end if end > start else end + 12))
    return found


def read_hour(time: str) -> float:
    """A time of day as hours after midnight, as far as it says them."""
    digits = _DIGITS.match(time)
    if digits is None:
        return 24.0 if time.startswith('midnight') else 12.0
    hour = int(digits[1]) + int(digits[2] or 0) / 60
    return hour % 12 + 12 if 'p' in time.lower() else hour
