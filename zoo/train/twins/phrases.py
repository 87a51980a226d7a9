"""
Twins by phrases: one is replaced by another of the same meaning, and by one of another
(``phrases.txt``). Every pattern that changes the meaning thus has one that keeps it.
And twins by addition: a name, a number, a place or a claim that the knowledge does not
have.
"""

import random
import re
from functools import cache
from typing import NamedTuple

from parlai_q2.zoo.train.twins.facts import load_pools
from parlai_q2.zoo.train.twins.twin import UNSUPPORTED, Twin, put, read_lines

FILE = 'phrases.txt'
SECOND_PHRASE = 0.5  # the share of right ones in which a second phrase is replaced
BOTH_CHANGED = 0.7  # of those, the share in which the wrong one is changed there too
COPIES = 0.15  # the share whose right one is the text itself: copies stay right


class Phrase(NamedTuple):
    """A line of the file."""

    pattern: re.Pattern[str]
    right: tuple[str, ...]
    wrong: tuple[str, ...]

    def replace_in(self, text: str, form: str) -> str:
        """A text with one of the phrase's forms in its place."""
        match = self.pattern.search(text)
        if not match:
            return text
        gap = ' ' if match[0].endswith(' ') else ''
        replacement = match.expand(form) + gap
        return re.sub(r'  +', ' ', put(text, match, replacement))


@cache
def load_phrases() -> tuple[Phrase, ...]:
    """All phrases of the file."""
    phrases = []
    for line in read_lines(FILE):
        pattern, forms = line.split(' => ')
        right, wrong = (tuple(form.split(' | ')) for form in forms.split(' ## '))
        phrases.append(Phrase(re.compile(pattern, re.IGNORECASE), right, wrong))
    return tuple(phrases)


def phrase_twin(text: str, rng: random.Random, knowledge: str = '') -> Twin | None:
    """
    A twin by a phrase of a text. A second phrase of the right one may be replaced as
    well, by one of the same meaning.

    :param knowledge: where given, only phrases that it has too are replaced.
    :return: None where no phrase fits.
    """
    fitting = [p for p in load_phrases() if p.pattern.search(text)]
    fitting = [p for p in fitting if not knowledge or p.pattern.search(knowledge)]
    if not fitting:
        return None
    phrase = rng.choice(fitting)
    right = phrase.replace_in(text, rng.choice(phrase.right))
    wrong = phrase.replace_in(text, rng.choice(phrase.wrong))
    rest = [p for p in fitting if p is not phrase and p.pattern.search(right)]
    if rest and rng.random() < SECOND_PHRASE:
        second = rng.choice(rest)
        form = rng.choice(second.right)
        right = second.replace_in(right, form)
        if rng.random() < BOTH_CHANGED:
            wrong = second.replace_in(wrong, form)
    if rng.random() < COPIES:
        right = text
    return Twin('phrase', right, wrong) if right.lower() != wrong.lower() else None


def addition_twin(text: str, knowledge: str, rng: random.Random) -> Twin | None:
    """
    A text with something at its end that the knowledge does not say; beside it the text
    as it was.
    """
    pools = load_pools()
    claim = rng.choice(pools['claim']).format(
        name=rng.choice(pools['claimant']),
        place=rng.choice(pools['region']),
        year=rng.randint(1890, 2021),
        n=rng.choice((12, 15, 30, 45, 80, 150, 300, 2000)),
    )
    knowledge_words = set(re.findall(r'\w+', knowledge.lower()))
    new_words = set(re.findall(r'\w{4,}|\d+', claim.lower())) - knowledge_words
    stem = text.rstrip(' .!')
    if not new_words or text.rstrip().endswith('?') or len(stem.split()) < 3:
        return None
    comma = ',' if claim.startswith(('and', 'which', 'although')) else ''
    return Twin('addition', text, f'{stem}{comma} {claim}.', UNSUPPORTED)
