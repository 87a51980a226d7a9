"""
The fields of records, read back from the sentences that :mod:`parlai_q2.text.records`
writes: "The owner of R-12 is Bea Okoye." is the field "owner" of the record "R-12".

Which field words name is told by their first five letters, and by the role that sets
one field of a kind apart from another, as "last month" and "this month" do.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from parlai_q2.text.agreement import index_amounts
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.normalize import composed
from parlai_q2.text.selection import FUNCTION_WORDS, STEM

# The most names and values with the same first word that are compared with a response.
MOST_COMPARED = 20
_SENTENCE = re.compile(
    r'^The (?P<head>[^\n]{1,164}?) is (?P<value>[^\n]{1,200})\.$', re.MULTILINE
)
# "R-12" is one word, "eating-out" two.
_WORD = re.compile(r"[\w']+(?:-(?=\d)[\w']+)*")
_PLAIN_WORD = re.compile(r"[\w']+")
# Words of replies that may set records against each other or deny a value.
_COMPARES = re.compile(
    r'\b(?:not|no|never|than|unlike|without|more|less|both|all|total|together|'
    r"difference|except|other|others)\b|n't\b",
    re.IGNORECASE,
)
# Roles by axis: the words of one pole, and those of the other.
_ROLES = (
    (
        'previous previously prior before earlier old former formerly yesterday '
        'original originally ago last past',
        'current currently now new today present this',
    ),
    ('min minimum least low lowest', 'max maximum most high highest'),
    (
        'start begin beginning open depart departure leave',
        'end finish close arrive arrival until till',
    ),
)
TIME, LIMIT, SPAN = range(len(_ROLES))
_ROLE_OF = {
    word: (axis, pole)
    for axis, poles in enumerate(_ROLES)
    for pole, words in enumerate(poles)
    for word in words.split()
}
# "This" and "last" name a role only before a period of time.
_PERIOD = re.compile(
    r'\b(?:the |a )?(?:(?P<role>this|last|current|previous|prior|past)[ -])?'
    r'(?P<period>period|day|week|month|quarter|season|year|time|night)s?'
    r'(?P<later>[ -](?:before|earlier|ago))?\b'
)
# Forms that the stem does not join.
_FORMS = {
    'won': 'win', 'lost': 'loss', 'lose': 'loss', 'losse': 'loss', 'sold': 'sale',
    'sell': 'sale', 'began': 'begin', 'left': 'leave',
}  # fmt: skip
# Words that say that an amount is reached or changes, and no more.
_CHANGES = (
    'after against became become between came change changed come compared cost '
    'decrease decreased drop dropped fall fallen fell get go gone grew grow grown '
    'include including increase increased instead lower lowered need needed pay paid '
    'raise raised range reach reached reduce reduced rise rose run since than total '
    'versus went whereas while'
)
_COPULA = re.compile(r"([\w']+) (?:is|was|are|were|at|of|(?:came|comes|amounts) to) $")
_LAST_WORD = re.compile(r"(?<!of )(?<!of the )(?<!all )\b([\w']+) $")
_FIRST_WORD = re.compile(r" ([\w']+)")
_Item = TypeVar('_Item')


class Field(NamedTuple):
    """
    A value of a record.

    :param name: the record's name in lower case; empty if it has none.
    :param key: the name of the field in lower case.
    :param sentence: the sentence that states the value.
    :param value: the value's amounts, and where it starts and ends.
    """

    name: str
    key: str
    sentence: str
    value: str
    start: int
    end: int


class RecordFields:
    """
    All fields of the records of a text.

    :ivar by_name: the fields of each record, by its name.
    :ivar names: the words of each name.
    """

    def __init__(self, text: str):
        self._fields = _read_fields(text)
        self._starts = [field.start for field in self._fields]
        self._index = index_amounts(text) if self._fields else None
        self.by_name: dict[str, list[Field]] = defaultdict(list)
        # By a value as words: its keys in records with a name.
        self._keys: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for field in self._fields:
            self.by_name[field.name].append(field)
            if field.name:
                self._keys[as_words(field.value)].add(field.key)
        self._by_first = _group(self._keys, lambda value: value[:1])
        self.names = words = {name: as_words(name) for name in self.by_name if name}
        counts = Counter(word for name in words.values() for word in set(name))
        self._names = _group(words.items(), lambda item: item[1][:1])
        # Words that tell one name from the others.
        self._own_words = {
            word: name
            for name, parts in words.items()
            for word in parts
            if counts[word] == 1 and len(word) > 2 and not word.isdigit()
        }

    def find_names(self, words: tuple[str, ...]) -> set[str]:
        """The names of the records that a response names."""
        names = {self._own_words[word] for word in words if word in self._own_words}
        for place, word in enumerate(words):
            for name, parts in self._names.get((word,), ()):
                if words[place : place + len(parts)] == parts:
                    names.add(name)
        return names

    def matches(self, stated: Amount) -> list[Field]:
        """The fields whose value has an amount that agrees with one of a response."""
        if self._index is None:
            return []
        places = [amount.start for amount in self._index.matches(stated)]
        fields = (self._field_at(place) for place in places)
        return [field for field in fields if field]

    def has_other_value(self, name: str, response: str, words: tuple[str, ...]) -> bool:
        """Whether a response has a value that only other records have under its key."""
        values = {f.key: as_words(f.value) for f in self.by_name[name]}
        own_words = {word for value in values.values() for word in value}
        for place, word in enumerate(words):
            for value in self._by_first.get((word,), ()):
                if words[place : place + len(value)] != value or own_words >= {*value}:
                    continue
                if self._is_rival(values, self._keys[value], words) and _is_telling(
                    value
                ):
                    return True
        for stated in find_amounts(response):
            rivals = self.matches(stated)
            keys = {rival.key for rival in rivals}
            is_elsewhere = all(rival.name not in ('', name) for rival in rivals)
            if rivals and is_elsewhere and self._is_rival(values, keys, words):
                return True
        return False

    def _field_at(self, place: int) -> Field | None:
        """The field whose value has a place of the text."""
        n = bisect_right(self._starts, place) - 1
        field = self._fields[n] if n >= 0 else None
        return field if field and place < field.end else None

    @staticmethod
    def _is_rival(
        values: Mapping[str, tuple[str, ...]], keys: set[str], words: tuple[str, ...]
    ) -> bool:
        """Whether a record has its own value of one of some keys, which is not said."""
        return any(key in values and not {*values[key]} <= {*words} for key in keys)


# The fields of a text, read once for several responses.
index_fields = lru_cache(maxsize=64)(RecordFields)


def has_other_record(knowledge: str, response: str) -> bool:
    """Whether what a response says of one record is in another one."""
    # The sentences of records are lines.
    if '\nThe ' not in knowledge:
        return False
    records = index_fields(knowledge)
    # A single record cannot be taken for another.
    if len(records.names) < 2 or _COMPARES.search(response):
        return False
    words = as_words(response)
    names = records.find_names(words)
    return len(names) == 1 and records.has_other_value(names.pop(), response, words)


def as_words(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, without the plural's "s"."""
    words = _WORD.findall(text.lower())
    return tuple(word.removesuffix('s') or word for word in words)


def _read_fields(text: str) -> list[Field]:
    matches = list(_SENTENCE.finditer(text))
    names = Counter(name for m in matches for _, name in _split_head(m['head']))
    fields = []
    for match in matches:
        # A name occurs in several sentences; "the number of rooms" is a key.
        splits = _split_head(match['head'])
        key, name = max(splits, key=lambda split: names[split[1]], default=('', ''))
        fields.append(
            Field(
                name=name.lower(),
                key=(key or match['head']).lower(),
                sentence=match[0],
                value=match['value'],
                start=match.start('value'),
                end=match.end('value'),
            )
        )
    return fields


def _split_head(head: str) -> list[tuple[str, str]]:
    """The ways to read "owner of R-12" as a key and a name."""
    words = head.split(' of ')
    splits = range(1, len(words))
    return [(' of '.join(words[:n]), ' of '.join(words[n:])) for n in splits]


def _is_telling(value: Sequence[str]) -> bool:
    return len(''.join(value)) > 2 and value not in (('yes',), ('none',))


def _group(
    items: Iterable[_Item], key: Callable[[_Item], tuple[str, ...]]
) -> dict[tuple[str, ...], list[_Item]]:
    groups: dict[tuple[str, ...], list[_Item]] = defaultdict(list)
    for item in items:
        if len(groups[key(item)]) < MOST_COMPARED:
            groups[key(item)].append(item)
    return dict(groups)


class FieldWords(NamedTuple):
    """
    What a text says of a field.

    :param stems: the stems of its words but for function words and those of roles.
    :param roles: by axis, the pole; an axis with both poles is left out.
    :param periods: the lengths of the times, such as "month" in "last month".
    """

    stems: frozenset[str]
    roles: dict[int, int]
    periods: frozenset[str]


@lru_cache(maxsize=1024)
def read_words(text: str) -> FieldWords:
    """
    What a text, a key or a piece of a response, says of a field.

    >>> read_words('You spent it last month').roles == read_words('sales before').roles
    True
    """
    lowered = composed(text).lower()
    poles: dict[int, set[int]] = {}
    periods = set[str]()
    rest: list[str] = []
    place = 0
    for match in _PERIOD.finditer(lowered):
        if word := 'ago' if match['later'] else match['role']:
            axis, pole = _ROLE_OF[word]
            poles.setdefault(axis, set()).add(pole)
            periods.add(match['period'])
            rest.append(lowered[place : match.start()])
            place = match.end()
    rest.append(lowered[place:])
    stems = set[str]()
    for word in _PLAIN_WORD.findall(' '.join(rest)):
        if word in FUNCTION_WORDS or word in ('last', 'past'):
            continue
        singular = word.removesuffix('s')
        singular = _FORMS.get(singular, singular)
        if singular in _ROLE_OF:
            axis, pole = _ROLE_OF[singular]
            poles.setdefault(axis, set()).add(pole)
        else:
            stems.add(singular[:STEM])
    roles = {axis: min(pole) for axis, pole in poles.items() if len(pole) == 1}
    return FieldWords(frozenset(stems), roles, frozenset(periods))


def read_near(before: str, after: str) -> frozenset[str]:
    """The stems of the words next to an amount: "the fee is 5", "5 stops"."""
    last = _COPULA.search(before.lower()) or _LAST_WORD.search(before.lower())
    first = _FIRST_WORD.match(after.lower())
    return read_words(' '.join(match[1] for match in (last, first) if match)).stems


NEUTRAL = read_words(_CHANGES).stems | {'up', 'down'}
