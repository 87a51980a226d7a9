"""
Whether what a response says of a record belongs to another one, among the sentences
that :mod:`parlai_q2.text.records` wrote: "R-12 is owned by Ivo Marek", who owns R-11.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TypeVar

from parlai_q2.text.agreement import index_amounts
from parlai_q2.text.amounts import find_amounts

# The most values or names with the same first word that are compared.
MOST_COMPARED = 20
_Item = TypeVar('_Item')
_WORD = re.compile(r"[\w'-]+")
_RECORD = re.compile(
    r'^The (?P<key>[^\n]{1,80}?) of (?P<name>[^\n]{1,80}?) is '
    r'(?P<value>[^\n]{1,200})\.$',
    re.MULTILINE,
)
# Words of replies that may set records against each other or deny a value.
_COMPARES = re.compile(
    r'\b(?:not|no|never|than|unlike|without|more|less|both|all|total|together|'
    r"difference|except|other|others)\b|n't\b",
    re.IGNORECASE,
)


def has_other_record(knowledge: str, response: str) -> bool:
    """Whether what a response says of one record is in another one."""
    records = _Records.read(knowledge)
    if len(records.values) < 2 or _COMPARES.search(response):
        return False
    words = _as_words(response)
    names = records.find_names(words)
    return len(names) == 1 and records.has_other_value(names.pop(), response, words)


class _Records:
    """The records that :mod:`parlai_q2.text.records` wrote as sentences."""

    def __init__(self, text: str):
        # By name: the values of each key, as words.
        self.values: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        self._keys: dict[tuple[str, ...], set[str]] = defaultdict(set)
        self._places: list[tuple[int, str, str]] = []
        for match in _RECORD.finditer(text):
            name, key = match['name'].lower(), match['key'].lower()
            value = _as_words(match['value'])
            self.values[name][key] = value
            self._keys[value].add(key)
            self._places.append((match.start('value'), name, key))
        self._index = index_amounts(text) if self._places else None
        self._by_first = _group((value for value in self._keys), lambda v: v[:1])
        words = {name: _as_words(name) for name in self.values}
        counts = Counter(word for name in words.values() for word in set(name))
        self._names = _group(words.items(), lambda item: item[1][:1])
        # Words that tell one name from the others.
        self._own_words = {
            word: name
            for name, parts in words.items()
            for word in parts
            if counts[word] == 1 and len(word) > 2 and not word.isdigit()
        }

    @staticmethod
    @lru_cache(maxsize=64)
    def read(text: str) -> '_Records':
        """The records of a text, read once for several responses."""
        return _Records(text)

    def find_names(self, words: tuple[str, ...]) -> set[str]:
        """The names of the records that a response names."""
        names = {self._own_words[word] for word in words if word in self._own_words}
        for place, word in enumerate(words):
            for name, parts in self._names.get((word,), ()):
                if words[place : place + len(parts)] == parts:
                    names.add(name)
        return names

    def has_other_value(self, name: str, response: str, words: tuple[str, ...]) -> bool:
        """Whether a response has a value that only other records have under its key."""
        values = self.values[name]
        own_words = {word for value in values.values() for word in value}
        for place, word in enumerate(words):
            for value in self._by_first.get((word,), ()):
                if words[place : place + len(value)] != value or own_words >= {*value}:
                    continue
                if self._is_rival(values, self._keys[value], words) and _is_telling(
                    value
                ):
                    return True
        assert self._index is not None
        for claim in find_amounts(response):
            rivals = [self._record_at(m.start) for m in self._index.matches(claim)]
            keys = {key for rival, key in rivals}
            is_elsewhere = all(rival not in ('', name) for rival, _ in rivals)
            if rivals and is_elsewhere and self._is_rival(values, keys, words):
                return True
        return False

    def _record_at(self, place: int) -> tuple[str, str]:
        """The name and the key of the statement whose value has a place, or empty."""
        n = bisect_right(self._places, (place, '\uffff', '')) - 1
        return self._places[n][1:] if n >= 0 else ('', '')

    @staticmethod
    def _is_rival(
        values: Mapping[str, tuple[str, ...]], keys: set[str], words: tuple[str, ...]
    ) -> bool:
        """Whether a record has its own value of one of some keys, which is not said."""
        return any(key in values and not {*values[key]} <= {*words} for key in keys)


def _is_telling(value: Sequence[str]) -> bool:
    return len(''.join(value)) > 2 and value not in (('yes',), ('none',))


def _as_words(text: str) -> tuple[str, ...]:
    words = _WORD.findall(text.lower())
    return tuple(word.removesuffix('s') or word for word in words)


def _group(
    items: Iterable[_Item], key: Callable[[_Item], tuple[str, ...]]
) -> dict[tuple[str, ...], list[_Item]]:
    groups: dict[tuple[str, ...], list[_Item]] = defaultdict(list)
    for item in items:
        if len(groups[key(item)]) < MOST_COMPARED:
            groups[key(item)].append(item)
    return dict(groups)
