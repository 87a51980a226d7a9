"""
Puts the prepositional phrases of a response in the order of its knowledge: "leaves at
9:00 from platform 3" becomes "leaves from platform 3 at 9:00" if the knowledge says so.
Detectors take another order for a mistake, as they do with lists
(:mod:`parlai_q2.text.lists`).
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_PREPOSITION = re.compile(
    r' (?=(?:about|above|after|around|as|at|before|behind|below|between|by|during|for'
    r'|from|in|inside|into|near|on|onto|outside|over|through|to|towards?|under|until|till|via'
    r'|with|within|without)\b)',
    re.IGNORECASE,
)
_CLAUSE = re.compile(r'(?<!\d)[,;:()](?!\d)|[.!?]+(?:\s|$)|[,;:](?= )|\n')
# A phrase that goes on with another one may belong to that.
_JOINED = re.compile(r'\b(?:and|or|but|then|nor)\b|["“”«»]', re.IGNORECASE)
# In longer knowledge, nothing is looked for.
MOST_KNOWN = 5000


def reorder_phrases(knowledge: str, response: str) -> str:
    """
    A response whose clauses have their prepositional phrases in the order in which a
    clause of the knowledge has them. Each phrase stays whole, so that "from A to B"
    never becomes "from B to A"; clauses with "and" or "or" are left alone.

    >>> reorder_phrases('Bake at 90 °C for 40 min.', 'Bake it for 40 min at 90 °C.')
    'Bake it at 90 °C for 40 min.'
    """
    if len(knowledge) > MOST_KNOWN or len(_PREPOSITION.findall(response)) < 2:
        return response
    known = _index_phrases(knowledge)
    parts: list[str] = []
    place = 0
    for end in [*(m.start() for m in _CLAUSE.finditer(response)), len(response)]:
        parts.append(_reorder(response[place:end], known))
        place = end
    return ''.join(parts)


def _reorder(clause: str, known: Sequence[Mapping[str, int]]) -> str:
    head, *phrases = _PREPOSITION.split(clause)
    if len(phrases) < 2 or _JOINED.search(clause):
        return clause
    keys = [phrase.casefold() for phrase in phrases]
    for places in known:
        slots = [n for n, key in enumerate(keys) if key in places]
        if len(slots) < 2:
            continue
        order = sorted(slots, key=lambda n: places[keys[n]])
        for slot, n in zip(slots, [phrases[n] for n in order], strict=True):
            phrases[slot] = n
        return ' '.join([head, *phrases])
    return clause


@lru_cache(maxsize=64)
def _index_phrases(text: str) -> list[Mapping[str, int]]:
    """For each clause of a text with several phrases, their places in it."""
    found: list[Mapping[str, int]] = []
    for clause in _CLAUSE.split(text):
        _, *phrases = _PREPOSITION.split(f' {clause.strip()}')
        keys = [phrase.strip().casefold() for phrase in phrases]
        if len(set(keys)) == len(keys) > 1:
            found.append({key: n for n, key in enumerate(keys)})
    return found
