"""
What an amount of a record is said to belong to: "Delivery costs 48 euros" where a
record has the price of a course, and no word of delivery.

Detectors often read this as supported, since the record does not say what the amount
belongs to. Of prose they read it better: there, the rule lowered five right replies for
each wrong one.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from parlai_q2.text.agreement import index_amounts
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.fields import index_fields
from parlai_q2.text.selection import stems
from parlai_q2.text.statements import find_subject
from parlai_q2.turns import Span

# A longer subject is rarely a thing.
MOST_WORDS = 4
# Words with as many letters in common at their start, or that start with a known word,
# have the same stem.
SHARED_LETTERS = 4
# A line or a row of fields: "course: art | price: 48 euros".
_CELL_END = re.compile(r' \| |[;,] ')
_CELL = re.compile(r'\s*[A-Za-z][^:|\n]{0,40}: +[^\n:]{1,80}(?<![.!?])')
# Shorter ones are most likely function words.
_LONG_WORD = re.compile(r'[^\W\d_]{3,}')
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
# What an amount is for: "48 euros for delivery".
_FOR = re.compile(r' for ((?:[^\W\d_]+ ?){1,3})(?=[.!?]?$)')
# What joins the words of a name.
_JOINTS = frozenset(
    'the a an our your its their my of for at by from in on to with'.split()
)
_PREPOSITION = re.compile(r'(?:of|for|at|by|from|in|on|to|with)\b', re.I)
# "You'd", but not "gym's".
_CLITIC = re.compile(r"['’](?:d|ll|m|re|ve)$")
_NO_THING = re.compile(r'[^\w\s’\'-]|\d')
# Words for whatever has an amount, what an amount is of or counts, and what says when:
# they may be said of any record.
_ANY_RECORD = stems(
    """
    account actual admission adult adults afternoon age amount appointment april
    article august autumn average basic best biggest bill book bottle box boy card case
    change charge cheapest child children class client coldest company concert copy
    correct cost course current customer date daughter day deadline deal december
    degree difference distance document dog dollar double dozen duration earliest
    eight eighteen eighty eleven entry euro evening event everybody everyone exact
    family father february fee fifteen fifty figure file film final firm first five
    flight forty four fourteen friday friend full girl gram group grown guest guests
    half height highest hottest hour hundred husband invoice item january job
    journey july june kid kids kilo kilogram kilometre largest last latest length
    lesson level limit litre longest lowest main majority man march maximum meal
    measurement member membership men meter metre midnight mile minimum minute model
    monday month morning most mother movie name new newest next night nine nineteen
    ninety nobody noon normal november number october offer old oldest only option
    order original overall owner owners pack package parents part pass passenger
    people percent percentage period person piece place plan point position pound
    price product purchase quarter rate reading regular rest result ride room same
    saturday score second senior seniors september service session seven seventeen
    seventy share shop shortest show single site six sixteen sixty size smallest
    someone something son speed spring standard start stay store story strongest
    student students subscription sum summer sunday team teen teenager temperature
    ten test thing third thirteen thirty thousand three thursday ticket time today
    tomorrow tonight total tour train treatment trip tuesday twelve twenty two unit
    user users usual value version visit visitor visitors volume way wednesday week
    weekday weekdays weekend weekends weight whole width wife winter woman women
    work workshop worst year yesterday zero
    """
)
# With one of these, words before a verb are no plain name.
_NO_NAME = frozenset(
    """
    actually after always another anybody anyone anything apparently because before
    being between both doing during each either even every everything few first
    getting going haha having he hello her hers hey hi his however i if indeed it
    its just last less many maybe me mine more neither never no nobody none not
    nothing oh ok okay one ones or other others otherwise ours perhaps please right
    several she since so sorry sure than that them then there these they this those
    though today under until us using we well what when where which while who
    without wow yeah yep yes you yours
    """.split()
)


class Stranger(NamedTuple):
    """
    What a statement gives an amount of a record to.

    :param span: its words in the statement, none of which the knowledge has.
    :param known: the words of the names of all fields, and of those with the amount.
    """

    span: Span
    known: tuple[str, ...]


class _Value(NamedTuple):
    """A value of a field: where it starts and ends, the field's name, and its text."""

    start: int
    end: int
    key: str
    text: str


def find_stranger(knowledge: str, statement: str) -> Stranger | None:
    """
    Find what a statement gives an amount of a record to, if the knowledge has none of
    its words.

    >>> record = 'The price is 48 euros.'
    >>> find_stranger(record, 'The cost of delivery is 48 euros.').span.text
    'delivery'
    >>> find_stranger(record, 'The fee is 48 euros.') is None
    True
    """
    amounts = find_amounts(statement)
    if not amounts or not _index_values(knowledge):
        return None
    for start, words in _find_owners(statement, amounts):
        new = [w for w in words if _tells(w[0]) and not _is_known(w[0], knowledge)]
        values = _find_values(knowledge, amounts) if new else []
        keys = stems(' '.join(value.key for value in values))
        if values and new == [w for w in words if _tells(w[0], keys)]:
            first, last = start + new[0].start(), start + new[-1].end()
            names = [value.key for value in _index_values(knowledge)]
            texts = ' '.join(dict.fromkeys([*names, *(v.text for v in values)]))
            known = tuple(dict.fromkeys(_LONG_WORD.findall(texts.lower())))
            return Stranger(Span(statement[first:last], first, last), known)
    return None


def _find_values(knowledge: str, amounts: Sequence[Amount]) -> list[_Value]:
    """The values of fields that have the amounts; none if other text has one."""
    index, values = index_amounts(knowledge), _index_values(knowledge)
    found: list[_Value] = []
    for match in chain.from_iterable(map(index.matches, amounts)):
        own = [value for value in values if value.start <= match.start < value.end]
        if not own:
            return []
        found += own
    return found


@lru_cache(maxsize=64)
def _index_values(knowledge: str) -> list[_Value]:
    """The values of all fields of a text."""
    records = index_fields(knowledge).by_name.values()
    values = [
        _Value(field.start, field.end, field.key, field.sentence)
        for fields in records
        for field in fields
    ]
    start = 0
    for line in knowledge.split('\n') if ': ' in knowledge else ():
        cells = _CELL_END.split(line)
        if all(map(_CELL.fullmatch, cells)):
            place = start
            for cell in cells:
                place = knowledge.index(cell, place)
                key = cell.partition(':')[0]
                values.append(_Value(place + len(key), place + len(cell), key, line))
        start += len(line) + 1
    return values


def _find_owners(
    statement: str, amounts: Sequence[Amount]
) -> Iterator[tuple[int, list[re.Match[str]]]]:
    """
    The places and words of what may own an amount: a plain subject before it, and what
    follows "for".
    """
    subject = find_subject(statement)
    if subject is not None and amounts[0].start >= subject.end:
        yield subject.start, _read_thing(subject.text)
    last = amounts[-1]
    if bought := _FOR.match(statement, last.end):
        yield bought.start(1), _read_thing(bought[1])


def _read_thing(text: str) -> list[re.Match[str]]:
    """The words of a thing's name; none if it is a pronoun, or more than a name."""
    words = list(_WORD.finditer(text))
    things = [w for w in words if w[0].lower() not in _JOINTS]
    is_name = len(things) <= MOST_WORDS and not (
        _NO_THING.search(text) or _PREPOSITION.match(text)
    )
    is_plain = all(
        w[0].lower() not in _NO_NAME and not _CLITIC.search(w[0]) for w in things
    )
    return things if is_name and is_plain else []


def _tells(word: str, keys: frozenset[str] = frozenset()) -> bool:
    """Whether a word tells what something is, besides the names of fields."""
    parts = stems(word.replace('-', ' '))
    return bool(parts - _ANY_RECORD - keys)


def _is_known(word: str, knowledge: str) -> bool:
    """Whether a text has a word, or one of its stem."""
    known = _read_words(knowledge)
    return any(
        other.startswith(part[:SHARED_LETTERS]) or part.startswith(other)
        for part in word.lower().split('-')
        for other in known
    )


@lru_cache(maxsize=64)
def _read_words(knowledge: str) -> frozenset[str]:
    return frozenset(_LONG_WORD.findall(knowledge.lower()))
