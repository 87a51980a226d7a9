"""
Changes one thing in a passage of knowledge, so that statements about the changed
passage are not attributable to the original (Dziri et al. 2022, section 4.2): an entity
or a pronoun swapped, a verb negated, a word replaced by its antonym or by a sibling.
"""

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from parlai_q2.perturb.entity_swap import Entity, index_entities, swap_one
from parlai_q2.perturb.negation import Changed, negate
from parlai_q2.perturb.wordnet import antonyms, base_form, siblings, wordnet
from parlai_q2.text.pipeline import parse_all

if TYPE_CHECKING:
    from spacy.tokens import Token

# Pronouns by others of their kind; "her" is a possessive or an object, by spaCy's tag.
PRONOUNS = {
    'he': 'she',
    'she': 'he',
    'him': 'her',
    'himself': 'herself',
    'herself': 'himself',
    'his': 'her',
    'its': 'their',
    'their': 'its',
}
HER = {'PRP$': 'his', 'PRP': 'him'}


class KnowledgeChanges:
    """
    Changes passages, each on its own; entities come from the other passages.

    :param passages: all passages, including those that :meth:`change` gets.
    :param seed: decides every choice.
    :raises MissingPackageError: without NLTK, and an InputError without WordNet.
    """

    def __init__(self, passages: Sequence[str], seed: int = 0):
        wordnet()
        self.seed = seed
        distinct = list(dict.fromkeys(passages))
        self._docs = dict(zip(distinct, parse_all(distinct), strict=True))
        self._entities: dict[str, list[Entity]] = {}
        for text, doc in self._docs.items():
            self._entities[text] = [Entity(e.text, e.label_) for e in doc.ents]
        self._index = index_entities(chain.from_iterable(self._entities.values()))
        self.kinds: dict[str, Callable[[str, random.Random], Changed | None]] = {
            'entity': self._entity,
            'pronoun': partial(self._word, find_words=_other_pronoun),
            'negation': negate,
            'antonym': partial(self._word, find_words=partial(_find_form, antonyms)),
            'sibling': partial(self._word, find_words=partial(_find_form, siblings)),
        }

    def change(self, passage: str, kind: str) -> Changed | None:
        """
        Change a passage in one way, one of ``kinds``; the same passage, kind and seed
        give the same change. None if it does not apply.
        """
        draw = random.Random(f'{self.seed} {kind} {passage}')
        return self.kinds[kind](passage, draw)

    def _entity(self, text: str, draw: random.Random) -> Changed | None:
        return swap_one(text, self._entities[text], text, self._index, draw)

    def _word(
        self, text: str, draw: random.Random, find_words: Callable[['Token'], list[str]]
    ) -> Changed | None:
        """Replace one word; ``find_words`` returns the replacements of a token."""
        tokens = list(self._docs[text])
        words = {token.text.lower() for token in tokens}
        for token in draw.sample(tokens, len(tokens)):
            candidates = [o for o in find_words(token) if o.lower() not in words]
            if candidates:
                new = draw.choice(candidates)
                new = new[0].upper() + new[1:] if token.text[0].isupper() else new
                end = token.idx + len(token.text)
                changed = text[: token.idx] + new + text[end:]
                return Changed(changed, token.text, new)
        return None


def _other_pronoun(token: 'Token') -> list[str]:
    word = token.text.lower()
    pronoun = HER.get(token.tag_) if word == 'her' else PRONOUNS.get(word)
    return [pronoun] if pronoun else []


def _find_form(find: Callable[[str, str], list[str]], token: 'Token') -> list[str]:
    """Find words related to a word in its base form; others and names have none."""
    word = token.text.lower()
    if token.ent_type_ or base_form(word, token.pos_) != word:
        return []
    return find(word, token.pos_)
