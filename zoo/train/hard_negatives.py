"""
Makes responses that nearly copy their knowledge and are still wrong.

Annotated negatives of dialogue models often share few words with the knowledge, so that
word overlap alone detects them. The mistakes that matter share most of its words. This
module makes such mistakes from responses that are grounded in their knowledge, one
change each, after Conv-FEVER (Santhanam et al. 2021, section 3): an entity or a number
replaced, two entities swapped, a negation added or removed, or the knowledge replaced
by another passage about the same thing.
"""

import random
import re
from collections import Counter
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

from parlai_q2.text.overlap import token_overlap
from parlai_q2.text.pipeline import parse_all

# Conv-FEVER's list (section 3.2) without the forms of "do": "did not wrote" would be
# too easy to recognise.
AUXILIARIES = (
    'are is was were have had has can could may might must shall should will would'
)
_AUXILIARY = re.compile(rf'\b({"|".join(AUXILIARIES.split())})\b( not\b)?', re.I)
_SMALL_WORD = re.compile(r'\b[a-z]{3,}\b')
_NUMBER = re.compile(r'\b\d{1,4}\b')
_YEARS = range(1500, 2030)
# A response with a smaller share of its words in the knowledge likely says more than
# it.
LEAST_PRECISION = 0.6


@dataclass(frozen=True)
class Grounded:
    """
    A response that is grounded in its knowledge.

    :param knowledge: the sentence that the response was made from.
    :param response: the response.
    :param entities: the (label, text) of each entity in the response.
    """

    knowledge: str
    response: str
    entities: tuple[tuple[str, str], ...]


def read_grounded(pairs: Sequence[tuple[str, str]]) -> list[Grounded]:
    """
    The responses that are grounded in their knowledge, by a rough check: all their
    entities and numbers, and :data:`LEAST_PRECISION` of their words, are in it.

    :param pairs: the (knowledge, response) of grounded turns.
    """
    docs = parse_all([response for _, response in pairs])
    found = []
    for (knowledge, response), doc in zip(pairs, docs, strict=True):
        entities = tuple((e.label_, e.text) for e in doc.ents)
        named = [text for _, text in entities] + _NUMBER.findall(response)
        if (
            all(text.lower() in knowledge.lower() for text in named)
            and token_overlap(knowledge, response).precision >= LEAST_PRECISION
        ):
            found.append(Grounded(knowledge, response, entities))
    return found


class HardNegatives:
    """
    Makes one wrong example from each grounded one.

    :param grounded: the grounded responses; entities and passages are taken from them.
    :param seed: decides every choice.
    """

    def __init__(self, grounded: Sequence[Grounded], seed: int = 0):
        self.grounded, self.rng = grounded, random.Random(seed)
        self.made: Counter[str] = Counter()
        self.by_label: dict[str, list[str]] = {}
        for one in grounded:
            for label, text in one.entities:
                self.by_label.setdefault(label, []).append(text)
        self.changes: dict[str, Callable[[Grounded], Optional[tuple[str, str]]]] = {
            'entity': self.entity,
            'number': self.number,
            'swap': self.swap,
            'negation': self.negation,
            'same_topic': self.same_topic,
        }

    def of(self, one: Grounded) -> Optional[tuple[str, str, str]]:
        """
        Make a wrong example by the applicable change that was made least often so far.

        :return: (change, knowledge, response), or None where no change applies.
        """
        for name in sorted(self.changes, key=lambda c: self.made[c]):
            pair = self.changes[name](one)
            if pair is not None:
                self.made[name] += 1
                return (name, *pair)
        return None

    def entity(self, one: Grounded) -> Optional[tuple[str, str]]:
        """
        Replace an entity by another of its kind that the knowledge does not have.
        """
        known = one.knowledge.lower()
        for label, text in self.rng.sample(one.entities, len(one.entities)):
            others = [o for o in self.by_label[label] if o.lower() not in known]
            others = [o for o in others if text.lower() not in o.lower()]
            if others:
                return one.knowledge, _replace(one.response, text, others, self.rng)
        return None

    def number(self, one: Grounded) -> Optional[tuple[str, str]]:
        """
        Replace a number of the knowledge by another; a year by a year.
        """
        known = set(_NUMBER.findall(one.knowledge))
        shared = [n for n in _NUMBER.findall(one.response) if n in known]
        if not shared:
            return None
        old = self.rng.choice(shared)
        near = (
            [int(old) + d for d in (-12, -7, -3, -1, 1, 2, 5, 9)]
            if int(old) in _YEARS
            else [int(old) + 1, int(old) + 3, int(old) * 2 + 1, max(0, int(old) - 2)]
        )
        new = [str(n) for n in near if str(n) not in known]
        return one.knowledge, _replace(one.response, old, new, self.rng)

    def swap(self, one: Grounded) -> Optional[tuple[str, str]]:
        """
        Swap two entities of one kind.
        """
        by_kind: dict[str, list[str]] = {}
        for label, text in one.entities:
            if text not in by_kind.setdefault(label, []):
                by_kind[label].append(text)
        for texts in by_kind.values():
            # Lists ("X, Y and Z star in it") stay true in any order.
            for a, b in zip(texts, texts[1:]):
                between = one.response.split(a, 1)[-1].split(b, 1)[0]
                if a in b or b in a or len(_SMALL_WORD.findall(between)) < 2:
                    continue
                swapped = one.response.replace(a, '\0').replace(b, a).replace('\0', b)
                return one.knowledge, swapped
        return None

    def negation(self, one: Grounded) -> Optional[tuple[str, str]]:
        """
        Put a "not" after the first auxiliary verb, or remove one.
        """
        found = _AUXILIARY.search(one.response)
        if not found or "n't" in one.response:
            return None
        new = found[1] if found[2] else f'{found[1]} not'
        changed = one.response[: found.start()] + new + one.response[found.end() :]
        return one.knowledge, changed

    def same_topic(self, one: Grounded) -> Optional[tuple[str, str]]:
        """
        Use other knowledge that names an entity of the response, but not all of them.
        """
        names = [text.lower() for _, text in one.entities if len(text) > 3]
        others = [
            other.knowledge
            for other in self.grounded
            if any(name in other.knowledge.lower() for name in names)
            and not all(name in other.knowledge.lower() for name in names)
        ]
        return (self.rng.choice(others), one.response) if others else None


def _replace(text: str, old: str, new: Sequence[str], rng: random.Random) -> str:
    return text.replace(old, rng.choice(new), 1)
