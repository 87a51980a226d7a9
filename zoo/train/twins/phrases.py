"""
Makes twins by replacing a phrase: in the right sentence by one of the same meaning, in
the wrong sentence by one of another meaning (``phrases.txt``). So an edit alone does
not tell which is wrong. Also makes twins by adding a name, number, place or claim that
the knowledge does not have.
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
        """Replace the phrase in a text by one of its forms."""
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
    Make a twin by replacing a phrase of a text. In the right sentence, a second phrase
    may be replaced, too, by one of the same meaning.

    :param knowledge: if given, only phrases that it also has are replaced.
    :return: None if no phrase fits.
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
    Make a twin by adding to a text what its knowledge does not say; the right sentence
    is the text itself. None if the addition does not fit.
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
