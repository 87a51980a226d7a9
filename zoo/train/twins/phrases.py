"""
Twins by phrases: one is replaced by another of the same meaning, and by one of another
(``phrases.txt``). Every pattern that changes the meaning thus has one that keeps it.
"""

import random
import re
from functools import cache
from typing import NamedTuple

from parlai_q2.zoo.train.twins.twin import Twin, forms

FILE = 'phrases.txt'
SECOND = 0.5  # the share of right ones in which a second phrase is replaced
BOTH = 0.7  # of those, the share in which the wrong one has the second phrase too
COPIES = 0.15  # the share whose right one is the text itself: copies stay right


class Phrase(NamedTuple):
    """A line of the file."""

    pattern: re.Pattern[str]
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    def put(self, text: str, form: str) -> str:
        """A text with one of the phrase's forms in its place."""
        found = self.pattern.search(text)
        if not found:
            return text
        gap = ' ' if found[0].endswith(' ') else ''
        said = found.expand(form) + gap
        return re.sub(r'  +', ' ', text[: found.start()] + said + text[found.end() :])


@cache
def phrases() -> tuple[Phrase, ...]:
    """All phrases of the file."""
    return tuple(
        Phrase(re.compile(line.head, re.IGNORECASE), line.right, line.wrong)
        for line in forms(FILE)
    )


def phrase_twin(text: str, rng: random.Random, knowledge: str = '') -> Twin | None:
    """
    A twin by a phrase of a text. A second phrase of the right one may be replaced as
    well, by one of the same meaning.

    :param knowledge: where given, only phrases that it has too are replaced.
    :return: None where no phrase fits.
    """
    found = [p for p in phrases() if p.pattern.search(text)]
    found = [p for p in found if not knowledge or p.pattern.search(knowledge)]
    if not found:
        return None
    phrase = rng.choice(found)
    right = phrase.put(text, rng.choice(phrase.right))
    wrong = phrase.put(text, rng.choice(phrase.wrong))
    others = [p for p in found if p is not phrase and p.pattern.search(right)]
    if others and rng.random() < SECOND:
        other = rng.choice(others)
        form = rng.choice(other.right)
        right = other.put(right, form)
        if rng.random() < BOTH:
            wrong = other.put(wrong, form)
    if rng.random() < COPIES:
        right = text
    return Twin('phrase', right, wrong) if right.lower() != wrong.lower() else None
