"""
Reads which field of a record words name: by stems, and by the role that sets one field
of a kind apart from another, as "last month" and "this month" do.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from parlai_q2.text.normalize import composed
from parlai_q2.text.selection import FUNCTION_WORDS, STEM

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
_WORD = re.compile(r"[\w']+")
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


class FieldWords(NamedTuple):
    """
    What a text says of a field.

    :param stems: the stems of its words but for function words and those of roles.
    :param roles: by axis, the pole; an axis of both poles tells nothing.
    :param periods: of what length the times are: "month" of "last month".
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
    for word in _WORD.findall(' '.join(rest)):
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
