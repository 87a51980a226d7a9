"""
Swaps an entity for another one of its type: one of Conv-FEVER's perturbations
(Santhanam et al. 2021, section 4).

A text that the response rests on (its knowledge, or the conversation before it) shares
an entity with the response. There it is replaced, wherever it stands, by another one of
the same type that the same conversation speaks of. So the text no longer says what the
response says.

What is an entity is found elsewhere; this is text alone.
"""

import random
import re
from typing import Iterable, Mapping, NamedTuple, Optional, Sequence

_ARTICLE = re.compile(r'(?:the|a|an)\s+', re.IGNORECASE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s?$", re.IGNORECASE)
# Words without a letter in "USA" and "CNN".
_SMALL = frozenset('the a an of and for in'.split())
PERSON = 'PERSON'
_SENTENCE_START = re.compile(r'(?:^|[.!?]["”’\')]*\s)["“‘\'(\s]*$')


class Entity(NamedTuple):
    """
    A named entity.

    :param text: as it is written, perhaps with an article, or with "'s".
    :param type: its type, e.g. ``PERSON``.
    """

    text: str
    type: str

    @property
    def shown(self) -> str:
        """
        The text without "'s", to stand elsewhere.
        """
        return _POSSESSIVE.sub('', self.text)

    @property
    def name(self) -> str:
        """
        The same without an article.
        """
        return _ARTICLE.sub('', self.shown, count=1) if self.article else self.shown

    @property
    def article(self) -> bool:
        """
        Whether the text begins with an article and goes on.
        """
        return bool(_ARTICLE.match(self.text))


class Swapped(NamedTuple):
    """
    Texts with one entity replaced.

    :param texts: as many as were given.
    :param before: the entity that was there.
    :param after: the entity that stands there now.
    """

    texts: tuple[str, ...]
    before: str
    after: str


def entity_index(entities: Iterable[Entity]) -> dict[str, list[Entity]]:
    """
    A conversation's entities by type, each name once, where it first occurs.
    """
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

    :param texts: the texts to change.
    :param entities: the entities in them.
    :param response: stays as it is.
    :param index: what :func:`entity_index` made of the conversation.
    :param draw: chooses the entity, and what it is replaced by.
    :return: None where no entity is shared, or none can be replaced.
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
    # One that is not there yet leaves a sentence that reads like any other.
    fresh = [o for o in others if not any(occurs(o.name, text) for text in texts)]
    other = draw.choice(fresh or others)
    changed = tuple(replace_entity(text, entity, other) for text in texts)
    return Swapped(changed, entity.shown, other.shown)


def replacements(
    entity: Entity, response: str, of_type: Sequence[Entity]
) -> list[Entity]:
    """
    What an entity can be replaced by.

    :param entity: the entity.
    :param response: what must not speak of the replacement.
    :param of_type: the entities of its type.
    :return: those that are no other name for it.
    """
    return [
        other
        for other in of_type
        if not may_be_one(entity, other)
        and not any(occurs(name, response) for name in {other.name, _plain(other.name)})
    ]


def may_be_one(one: Entity, other: Entity) -> bool:
    """
    Whether two names may be those of one thing: a part of the other ("Marley"), its
    plural or its initials, or for persons the same last name ("Robert Nesta Marley").
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
    # Of "World Cups" the "World Cup"; to compare, since "Texas" loses its s too.
    return re.sub(r'(?<=\w\w[^\Ws])s$', '', name.lower())


def _bare(name: str) -> str:
    return re.sub(r'\W', '', name.lower())


def _initials(name: str) -> Optional[str]:
    words = [w for w in re.findall(r'\w+', name.lower()) if w not in _SMALL]
    return ''.join(word[0] for word in words) if len(words) > 1 else None


def _last_same(a: str, b: str) -> bool:
    return a.lower().split()[-1] == b.lower().split()[-1]


def occurs(name: str, text: str) -> bool:
    """
    Whether a text has a name as whole words, in any case.
    """
    return _whole_words(name).search(text) is not None


def replace_entity(text: str, old: Entity, new: Entity) -> str:
    """
    A text with every mention of an entity replaced.

    An article goes with the entity that it belongs to, and gives way to that of the new
    one; "the 1969 album" keeps its own for 1971. Where a sentence begins, the
    replacement does so with a capital letter.
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
