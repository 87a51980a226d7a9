"""
Swaps an entity for another of its type, one of Conv-FEVER's perturbations (Santhanam et
al. 2021): an entity that a text (the knowledge, or the conversation before) shares with
the response is replaced, wherever it is mentioned, by another of the same type from the
same conversation.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from parlai_q2.perturb.negation import Changed
from parlai_q2.text.pipeline import MAX_CHARACTERS, pipeline

_ARTICLE = re.compile(r'(?:the|a|an)\s+', re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$", re.IGNORECASE)
# Words that are ignored when initials such as "USA" and "CNN" are formed.
_SMALL = frozenset('the a an of and for in'.split())
PERSON = 'PERSON'
_SENTENCE_START = re.compile(r'(?:^|[.!?]["”’\')]*\s)["“‘\'(\s]*$')
# Pipeline components that finding entities does not need.
UNUSED = ('tagger', 'attribute_ruler', 'parser')
BATCH = 256
# The number of texts to cache: Wizard of Wikipedia repeats its passages often.
REMEMBERED = 50_000


class Entity(NamedTuple):
    """A name as written, perhaps with an article or "'s", and its type (``PERSON``)."""

    text: str
    type: str

    @property
    def bare_text(self) -> str:
        """The text without "'s", ready to be put elsewhere."""
        return _POSSESSIVE.sub('', self.text)

    @property
    def name(self) -> str:
        """The text without "'s" and without an article."""
        bare = self.bare_text
        return _ARTICLE.sub('', bare, count=1) if self.article else bare

    @property
    def article(self) -> bool:
        """Whether the text is an article followed by something else."""
        return bool(_ARTICLE.match(self.text))


class EntitySwap(NamedTuple):
    """The texts, the entity that was replaced, and its replacement."""

    texts: tuple[str, ...]
    before: str
    after: str


def index_entities(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    """A conversation's entities by type, each name once, at its first occurrence."""
    index: dict[str, dict[str, Entity]] = {}
    for entity in entities:
        if entity.name.strip():
            index.setdefault(entity.type, {}).setdefault(entity.name.lower(), entity)
    return {type_: list(by_name.values()) for type_, by_name in index.items()}


def swap_entity(
    texts: Sequence[str],
    entities: Iterable[Entity],
    response: str,
    index: Mapping[str, Sequence[Entity]],
    draw: random.Random,
) -> EntitySwap | None:
    """
    Replace an entity that texts share with a response by another of the conversation's
    ``index`` (:func:`index_entities`); ``draw`` chooses both. None if no entity is
    shared, or none can be replaced.
    """
    choices: dict[str, tuple[Entity, list[Entity]]] = {}
    for entity in entities:
        name = entity.name.lower()
        if name.strip() and name not in choices and occurs(entity.name, response):
            candidates = replacements(entity, response, index.get(entity.type, ()))
            if candidates:
                choices[name] = entity, candidates
    if not choices:
        return None
    entity, candidates = draw.choice(list(choices.values()))
    # A replacement that the text does not mention yet gives a natural sentence.
    fresh = [c for c in candidates if not any(occurs(c.name, t) for t in texts)]
    replacement = draw.choice(fresh or candidates)
    changed = tuple(replace_entity(text, entity, replacement) for text in texts)
    return EntitySwap(changed, entity.bare_text, replacement.bare_text)


def swap_one(
    text: str,
    entities: Sequence[Entity],
    avoided: str,
    index: Mapping[str, Sequence[Entity]],
    draw: random.Random,
) -> Changed | None:
    """
    Replace an entity of a text by another of its type that the avoided text does not
    mention; None if there is none.
    """
    for entity in draw.sample(entities, len(entities)):
        candidates = replacements(entity, avoided, index.get(entity.type, ()))
        if candidates:
            other = draw.choice(candidates)
            changed = replace_entity(text, entity, other)
            return Changed(changed, entity.bare_text, other.bare_text)
    return None


def replacements(
    entity: Entity, response: str, of_type: Sequence[Entity]
) -> list[Entity]:
    """The entities that are not another name for this one, and not in the response."""
    return [
        other
        for other in of_type
        if not may_be_same(entity, other)
        and not occurs(other.name, response)
        and not occurs(_plain(other.name), response)
    ]


def may_be_same(entity: Entity, other: Entity) -> bool:
    """
    Whether two names may mean the same: one is a part, the plural or the initials of
    the other, or both are persons with the same last name.
    """
    first, second = entity.name, other.name
    if (
        entity.type == other.type == PERSON
        and first.lower().split()[-1] == second.lower().split()[-1]
    ):
        return True
    return _is_form_of(first, second) or _is_form_of(second, first)


def _is_form_of(name: str, other: str) -> bool:
    return (
        occurs(name, other)
        or occurs(_plain(name), _plain(other))
        or _initials(name) == _bare(other)
    )


def _plain(name: str) -> str:
    # Turns "World Cups" into "World Cup"; for comparison only, since "Texas" loses its
    # s too.
    return re.sub(r'(?<=\w\w[^\Ws])s$', '', name.lower())


def _bare(name: str) -> str:
    return re.sub(r'\W', '', name.lower())


def _initials(name: str) -> str | None:
    words = [w for w in re.findall(r'\w+', name.lower()) if w not in _SMALL]
    return ''.join(word[0] for word in words) if len(words) > 1 else None


def occurs(name: str, text: str) -> bool:
    """Whether a text contains a name as whole words, in any case."""
    return _whole_words(name).search(text) is not None


def replace_entity(text: str, old: Entity, new: Entity) -> str:
    """
    Replace every mention of an entity in a text, with its article unless neither entity
    has one, and with a capital at the beginning of a sentence.
    """

    def replaced(match: 're.Match[str]') -> str:
        if match['article'] and not (old.article or new.article):
            return match['article'] + new.bare_text
        if _SENTENCE_START.search(text[: match.start()]):
            return new.bare_text[0].upper() + new.bare_text[1:]
        return new.bare_text

    article = r'(?P<article>(?:the|a|an)\s+)?'
    return _whole_words(old.name, article).sub(replaced, text)


def _whole_words(name: str, before: str = '') -> 're.Pattern[str]':
    return re.compile(rf'(?<!\w){before}{re.escape(name)}(?!\w)', re.IGNORECASE)


class EntityFinder:
    """Finds entities, and caches those of many texts."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Entity, ...]] = {}

    def find(self, texts: Iterable[str]) -> dict[str, tuple[Entity, ...]]:
        """Find each text's entities in order, independently of the other texts."""
        distinct = dict.fromkeys(texts)
        if len(self._known) > REMEMBERED:
            self._known.clear()
        new = [text for text in distinct if text not in self._known]
        docs = pipeline().pipe(
            (t[:MAX_CHARACTERS] for t in new), disable=list(UNUSED), batch_size=BATCH
        )
        for text, doc in zip(new, docs, strict=True):
            self._known[text] = tuple(Entity(e.text, e.label_) for e in doc.ents)
        return {text: self._known[text] for text in distinct}
