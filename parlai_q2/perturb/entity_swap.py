"""
Swaps an entity for another of its type: one of Conv-FEVER's perturbations (Santhanam et
al. 2021, section 4).

A text that the response is based on (its knowledge, or the conversation before it)
shares an entity with the response. Every mention of that entity in the text is replaced
by another entity of the same type from the same conversation. The text then no longer
says what the response says.
"""

import random
import re
from collections import OrderedDict
from typing import Iterable, Mapping, NamedTuple, Optional, Sequence

from parlai_q2.text.pipeline import MAX_CHARACTERS, pipeline

_ARTICLE = re.compile(r'(?:the|a|an)\s+', re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$", re.IGNORECASE)
# Words that count for nothing when initials such as "USA" and "CNN" are formed.
_SMALL = frozenset('the a an of and for in'.split())
PERSON = 'PERSON'
_SENTENCE_START = re.compile(r'(?:^|[.!?]["”’\')]*\s)["“‘\'(\s]*$')
# Pipeline components that finding entities does not need.
UNUSED = ('tagger', 'attribute_ruler', 'parser')
BATCH = 256
# How many texts are remembered: enough for the passages of all topics in Wizard of
# Wikipedia, which recur in many conversations, and for the utterances in between.
REMEMBERED = 50_000


class Entity(NamedTuple):
    """A name as written, perhaps with an article or "'s", and its type (``PERSON``)."""

    text: str
    type: str

    @property
    def shown(self) -> str:
        """The text without "'s", ready to be put elsewhere."""
        return _POSSESSIVE.sub('', self.text)

    @property
    def name(self) -> str:
        """The text without "'s" and without an article."""
        return _ARTICLE.sub('', self.shown, count=1) if self.article else self.shown

    @property
    def article(self) -> bool:
        """Whether the text is an article followed by something else."""
        return bool(_ARTICLE.match(self.text))


class Swapped(NamedTuple):
    """The texts, the entity that was replaced, and its replacement."""

    texts: tuple[str, ...]
    before: str
    after: str


def entity_index(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    """A conversation's entities by type, each name once, at its first occurrence."""
    index: dict[str, dict[str, Entity]] = {}
    for entity in entities:
        if entity.name.strip():
            index.setdefault(entity.type, {}).setdefault(entity.name.lower(), entity)
    return {type_: list(found.values()) for type_, found in index.items()}


def swap_entity(
    texts: Sequence[str],
    entities: Iterable[Entity],
    response: str,
    index: Mapping[str, Sequence[Entity]],
    draw: random.Random,
) -> Optional[Swapped]:
    """
    Replace an entity that texts share with a response.

    :param entities: the entities in the texts.
    :param response: the response, which stays as it is.
    :param index: the conversation's entities, from :func:`entity_index`.
    :param draw: chooses the entity and its replacement.
    :return: the changed texts; None where no entity is shared, or none can be replaced.
    """
    choices: dict[str, tuple[Entity, list[Entity]]] = {}
    for entity in entities:
        name = entity.name.lower()
        if name.strip() and name not in choices and occurs(entity.name, response):
            others = replacements(entity, response, index.get(entity.type, ()))
            if others:
                choices[name] = entity, others
    if not choices:
        return None
    entity, others = draw.choice(list(choices.values()))
    # A replacement that the text does not have yet leaves a natural sentence.
    fresh = [o for o in others if not any(occurs(o.name, text) for text in texts)]
    other = draw.choice(fresh or others)
    changed = tuple(replace_entity(text, entity, other) for text in texts)
    return Swapped(changed, entity.shown, other.shown)


def replacements(
    entity: Entity, response: str, of_type: Sequence[Entity]
) -> list[Entity]:
    """
    The entities of a type that can replace an entity: they are no other name for it,
    and a response does not mention them.
    """
    return [
        other
        for other in of_type
        if not may_be_one(entity, other)
        and not any(occurs(name, response) for name in {other.name, _plain(other.name)})
    ]


def may_be_one(one: Entity, other: Entity) -> bool:
    """
    Whether two names may mean the same thing. One may be a part of the other
    ("Marley"), its plural or its initials; for persons, the last name may be the same
    ("Robert Nesta Marley").
    """
    a, b = one.name, other.name
    if occurs(a, b) or occurs(b, a) or _initials(a) == _bare(b):
        return True
    if (
        _initials(b) == _bare(a)
        or one.type == other.type == PERSON
        and _last_same(a, b)
    ):
        return True
    return occurs(_plain(a), _plain(b)) or occurs(_plain(b), _plain(a))


def _plain(name: str) -> str:
    # Makes "World Cups" the "World Cup"; for comparison only, since "Texas" loses its s
    # too.
    return re.sub(r'(?<=\w\w[^\Ws])s$', '', name.lower())


def _bare(name: str) -> str:
    return re.sub(r'\W', '', name.lower())


def _initials(name: str) -> Optional[str]:
    words = [w for w in re.findall(r'\w+', name.lower()) if w not in _SMALL]
    return ''.join(word[0] for word in words) if len(words) > 1 else None


def _last_same(a: str, b: str) -> bool:
    return a.lower().split()[-1] == b.lower().split()[-1]


def occurs(name: str, text: str) -> bool:
    """Whether a text contains a name as whole words, in any case."""
    return _whole_words(name).search(text) is not None


def replace_entity(text: str, old: Entity, new: Entity) -> str:
    """
    A text with every mention of an entity replaced. An article is replaced together
    with its entity; "the 1969 album" keeps its article for 1971. At the beginning of a
    sentence, the replacement gets a capital letter.
    """

    def replaced(found: 're.Match[str]') -> str:
        if found['article'] and not (old.article or new.article):
            return found['article'] + new.shown
        if _SENTENCE_START.search(text[: found.start()]):
            return new.shown[0].upper() + new.shown[1:]
        return new.shown

    article = r'(?P<article>(?:the|a|an)\s+)?'
    return _whole_words(old.name, article).sub(replaced, text)


def _whole_words(name: str, before: str = '') -> 're.Pattern[str]':
    return re.compile(rf'(?<!\w){before}{re.escape(name)}(?!\w)', re.IGNORECASE)


class EntityFinder:
    """Finds entities, and remembers those of the texts it saw most recently."""

    def __init__(self, remembered: int = REMEMBERED):
        self.remembered = remembered
        self._known: OrderedDict[str, tuple[Entity, ...]] = OrderedDict()

    def find(self, texts: Iterable[str]) -> dict[str, tuple[Entity, ...]]:
        """Each distinct text's entities in order; they do not depend on other texts."""
        distinct = list(dict.fromkeys(texts))
        new = [t for t in distinct if t not in self._known]
        found = {t: self._known[t] for t in distinct if t in self._known}
        found.update(zip(new, map(tuple, find_entities(new)), strict=True))
        for text in distinct:
            self._known[text] = found[text]
            self._known.move_to_end(text)
        while len(self._known) > self.remembered:
            self._known.popitem(last=False)
        return found


def find_entities(texts: list[str]) -> Iterable[list[Entity]]:
    """The entities of each text, without remembering them."""
    docs = pipeline().pipe(
        (t[:MAX_CHARACTERS] for t in texts), disable=list(UNUSED), batch_size=BATCH
    )
    for doc in docs:
        yield [Entity(e.text, e.label_) for e in doc.ents]
