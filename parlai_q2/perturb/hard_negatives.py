"""
Makes responses that nearly copy their knowledge and are still wrong, one change each:
an entity replaced or a negation added or removed, as in Conv-FEVER (Santhanam et al.
2021); a number replaced; two entities swapped; or the knowledge replaced by
another passage about the same thing. Annotated negatives of dialogue models often share
few words with the knowledge, so that word overlap alone detects them.
"""

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parlai_q2.perturb.entity_swap import Entity, swap_one
from parlai_q2.perturb.negation import negate
from parlai_q2.text.overlap import token_overlap
from parlai_q2.text.pipeline import parse_all

_SMALL_WORD = re.compile(r'\b[a-z]{3,}\b')
# No part of "10:00" or "1,000".
_NUMBER = re.compile(r'(?<![\w.,:])\d{1,4}(?!\w|[.,:]\d)')
_YEARS = range(1500, 2030)
# A response with a smaller share of its words in the knowledge probably says more.
LEAST_PRECISION = 0.6


@dataclass(frozen=True)
class Grounded:
    """A response that is grounded in its knowledge, and the entities in it."""

    knowledge: str
    response: str
    entities: tuple[Entity, ...]


def read_grounded(pairs: Sequence[tuple[str, str]]) -> list[Grounded]:
    """
    Select the grounded pairs (knowledge, response) by a rough check: all their entities
    and numbers, and :data:`LEAST_PRECISION` of their words, are in the knowledge.
    """
    docs = parse_all([response for _, response in pairs])
    grounded = []
    for (knowledge, response), doc in zip(pairs, docs, strict=True):
        entities = tuple(Entity(e.text, e.label_) for e in doc.ents)
        named = [e.text for e in entities] + _NUMBER.findall(response)
        if (
            all(text.lower() in knowledge.lower() for text in named)
            and token_overlap(knowledge, response).precision >= LEAST_PRECISION
        ):
            grounded.append(Grounded(knowledge, response, entities))
    return grounded


class HardNegatives:
    """Makes one wrong example from each grounded one; the seed decides every choice."""

    def __init__(self, grounded: Sequence[Grounded], seed: int = 0):
        self.grounded, self.rng = grounded, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.by_type: dict[str, list[Entity]] = {}
        for example in grounded:
            for entity in example.entities:
                self.by_type.setdefault(entity.type, []).append(entity)
        self.changes: dict[str, Callable[[Grounded], tuple[str, str] | None]] = {
            'entity': self.entity,
            'number': self.number,
            'swap': self.swap,
            'negation': self.negation,
            'same_topic': self.same_topic,
        }

    def perturb(self, example: Grounded) -> tuple[str, str, str] | None:
        """
        Make a wrong example by the applicable change that was made least often so far:
        the change, the knowledge and the response; None if no change applies.
        """
        for name in sorted(self.changes, key=lambda c: self.counts[c]):
            pair = self.changes[name](example)
            if pair is not None:
                self.counts[name] += 1
                return (name, *pair)
        return None

    def entity(self, example: Grounded) -> tuple[str, str] | None:
        """Replace an entity by another of its kind that the knowledge does not have."""
        knowledge = example.knowledge
        changed = swap_one(
            example.response, example.entities, knowledge, self.by_type, self.rng
        )
        return (knowledge, changed.text) if changed else None

    def number(self, example: Grounded) -> tuple[str, str] | None:
        """Replace a number of the knowledge by another, and a year by a year."""
        numbers = set(_NUMBER.findall(example.knowledge))
        shared = [n for n in _NUMBER.findall(example.response) if n in numbers]
        if not shared:
            return None
        digits = self.rng.choice(shared)
        value = int(digits)
        if value in _YEARS:
            similar = [value + change for change in (-12, -7, -3, -1, 1, 2, 5, 9)]
        else:
            similar = [value + 1, value + 3, value * 2 + 1, max(0, value - 2)]
        others = [str(n) for n in similar if str(n) not in numbers]
        if not others:
            return None
        other = self.rng.choice(others)
        place = next(m for m in _NUMBER.finditer(example.response) if m[0] == digits)
        response = example.response
        changed = f'{response[: place.start()]}{other}{response[place.end() :]}'
        return example.knowledge, changed

    def swap(self, example: Grounded) -> tuple[str, str] | None:
        """Swap two entities of one kind."""
        by_kind: dict[str, list[str]] = {}
        for text, kind in example.entities:
            if text not in by_kind.setdefault(kind, []):
                by_kind[kind].append(text)
        for texts in by_kind.values():
            # Lists ("X, Y and Z star in it") stay true in any order.
            for a, b in itertools.pairwise(texts):
                between = example.response.split(a, 1)[-1].split(b, 1)[0]
                if a in b or b in a or len(_SMALL_WORD.findall(between)) < 2:
                    continue
                swapped = (
                    example.response.replace(a, '\0').replace(b, a).replace('\0', b)
                )
                return example.knowledge, swapped
        return None

    def negation(self, example: Grounded) -> tuple[str, str] | None:
        """Add or remove a negation."""
        changed = negate(example.response, self.rng)
        return (example.knowledge, changed.text) if changed else None

    def same_topic(self, example: Grounded) -> tuple[str, str] | None:
        """Take other knowledge that names some of the response's entities, not all."""
        names = [e.text.lower() for e in example.entities if len(e.text) > 3]
        candidates = []
        for other in self.grounded:
            shared = sum(name in other.knowledge.lower() for name in names)
            if 0 < shared < len(names):
                candidates.append(other.knowledge)
        return (self.rng.choice(candidates), example.response) if candidates else None
