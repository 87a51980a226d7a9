"""
Values of records in the wrong place: the price of one product given for another, or the
departure as the arrival.

A value of a response may stand in several fields of the sentences that
:mod:`parlai_q2.text.records` writes. It is misplaced if the words around it name
another field better than each of them: "Basic costs 19 euros" names the price of Basic,
which is 9 euros.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from parlai_q2.text.agreement import agrees, index_amounts
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.selection import stems

_SENTENCE = re.compile(
    r'^The (?P<head>[^\n]{1,164}?) is (?P<value>(?:(?![.!?] )[^\n]){1,200})\.$', re.M
)
# Words of replies that may set fields against each other or deny a value.
_COMPARES = re.compile(
    r'\b(?:not|no|never|than|unlike|without|more|less|both|all|total|together|'
    r"difference|except|other|others|hardly|neither|nor|cannot)\b|n't\b",
    re.IGNORECASE,
)
# Where the words around one value may end before the next one.
_BREAK = re.compile(r'[,;:(]\s|\s(?=(?:and|but|while|whereas|or)\s)')
# Replies have shorter texts by chance.
SHORTEST = 3


class Field(NamedTuple):
    """
    A value of a record.

    :param name: the stems of the record's name; none if it has no name.
    :param key: the stems of what the value is.
    :param kind: the dimensions of its amounts; of a text, its key.
    :param value: its text, in lower case.
    :param amounts: the amounts of the text.
    """

    name: frozenset[str]
    key: frozenset[str]
    kind: frozenset[str]
    value: str
    amounts: tuple[Amount, ...]


class Sheet(NamedTuple):
    """
    The records of a text.

    :param fields: their fields, in order; not those that name a record.
    :param own_words: stems that tell one record's name from the others.
    :param other_text: the text without the sentences of records.
    """

    fields: tuple[Field, ...]
    own_words: frozenset[str]
    other_text: str


def misplaces_value(knowledge: str, response: str) -> bool:
    """
    Whether a response states a value of one field of a record as that of another. What
    other sentences have, too, may be stated of anything.

    >>> record = 'The old price is 120 euros.\\nThe new price is 89 euros.'
    >>> misplaces_value(record, 'The new price is 120 euros.')
    True
    """
    # The sentences of records are lines.
    if '\nThe ' not in knowledge or _COMPARES.search(response):
        return False
    sheet = _read_sheet(knowledge)
    if len(sheet.fields) < 2:
        return False
    names = frozenset[str]()
    for value, fields_of_value, text in _split(sheet.fields, response):
        words = stems(text)
        # A name holds until another one follows.
        names = words & sheet.own_words or names
        if _has_value(sheet.other_text, value):
            continue
        said = words | names
        if all(_has_better(sheet.fields, field, said) for field in fields_of_value):
            return True
    return False


# Candidates for one turn share the knowledge.
@lru_cache(maxsize=64)
def _read_sheet(text: str) -> Sheet:
    fields = _read_fields(text)
    counts = Counter(word for name in {f.name for f in fields} for word in name)
    own_words = frozenset(word for word, count in counts.items() if count == 1)
    return Sheet(fields, own_words, _SENTENCE.sub('', text))


def _read_fields(text: str) -> tuple[Field, ...]:
    matches = [*_SENTENCE.finditer(text)]
    names = Counter(name for m in matches for _, name in _split_head(m['head']) if name)
    fields = []
    for match in matches:
        value = match['value']
        if value in names:
            continue
        # A name occurs in several sentences; "the number of rooms" is a key.
        splits = _split_head(match['head'])
        key, name = max(splits, key=lambda split: names[split[1]])
        amounts = tuple(find_amounts(value))
        fields.append(
            Field(
                name=stems(name),
                key=stems(key),
                kind=frozenset(a.dimension for a in amounts) or stems(key),
                value=value.lower(),
                amounts=amounts,
            )
        )
    return tuple(fields)


def _split_head(head: str) -> list[tuple[str, str]]:
    """The ways to read "owner of R-12" as a key and a name; the last has no name."""
    words = head.split(' of ')
    splits = range(1, len(words) + 1)
    return [(' of '.join(words[:n]), ' of '.join(words[n:])) for n in splits]


def _split(
    fields: Sequence[Field], response: str
) -> Iterator[tuple[str, Sequence[Field], str]]:
    """Each value of a response, the fields that have it, and the words around it."""
    stated = sorted(_find_values(fields, response).items())
    start = 0
    for n, ((value_start, value_end), having) in enumerate(stated):
        end = len(response)
        if n + 1 < len(stated):
            end = stated[n + 1][0][0]
            if breaks := [*_BREAK.finditer(response, value_end, end)]:
                end = breaks[-1].start()
        around = response[start:value_start] + response[value_end:end]
        yield response[value_start:value_end], having, around
        start = end


def _find_values(
    fields: Sequence[Field], response: str
) -> dict[tuple[int, int], list[Field]]:
    """The fields that have an amount or a text of a response, by its start and end."""
    values: dict[tuple[int, int], list[Field]] = {}
    for amount in find_amounts(response):
        having = [f for f in fields if any(agrees(a, amount) for a in f.amounts)]
        if having:
            values[amount.start, amount.end] = having
    lowered = response.lower()
    for field in fields:
        start = lowered.find(field.value)
        end = start + len(field.value)
        if start < 0 or field.amounts or len(field.value) < SHORTEST:
            continue
        if not (lowered[:start][-1:].isalnum() or lowered[end : end + 1].isalnum()):
            values.setdefault((start, end), []).append(field)
    return values


def _has_value(text: str, value: str) -> bool:
    """Whether a text has a value, as an amount or word for word."""
    amounts = find_amounts(value)
    if not amounts:
        return value.lower() in text.lower()
    return all(index_amounts(text).has(amount) for amount in amounts)


def _has_better(fields: Sequence[Field], field: Field, said: frozenset[str]) -> bool:
    """Whether words name another field of the same kind, and all that they name one."""
    named = (field.name | field.key) & said
    return any(
        (other.name | other.key) & said > named
        for other in fields
        if other.value != field.value and other.kind & field.kind
    )
