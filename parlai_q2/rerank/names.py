"""
Finds the name that a reply leaves out: "It is a samurai game." is about "Legend of the
9" if the knowledge is "Legend of the 9 is a samurai game by Genki". A generator can be
asked for a reply that begins with it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Optional

from parlai_q2.rerank.subjects import joined, names
from parlai_q2.text.normalize import tokens
from parlai_q2.text.pipeline import parse_all
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Passage

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# What is longer is hard to begin with, and most likely misread by the parser.
LONGEST = 9
# A reply shares so many words with the sentence that it is made of.
LEAST_SHARED = 2
# What says more of a name ends it: "Prus, who wrote ...".
_MORE = frozenset({'relcl', 'acl', 'appos', 'punct'})
_NOUNS = frozenset({'NOUN', 'PROPN'})


def name_for(reply: str, passages: Sequence[Passage]) -> Optional[str]:
    """
    What a reply is about that does not say so: the subject of the sentence of the
    knowledge that it has most words of; None if there is none that could be said.

    >>> lake = [Passage('Baikal is a lake in Siberia. Bees have five eyes.')]
    >>> name_for('It is in Siberia.', lake), name_for('It rains.', lake)
    ('Baikal', None)
    """
    own = set(tokens(reply))
    said = [one.text for passage in passages for one in sentences(passage.text)]
    shared = [len(own.intersection(_words(text))) for text in said]
    if max(shared, default=0) < LEAST_SHARED:
        return None
    found = _clauses(said[shared.index(max(shared))])
    # Of a clause and one inside it, the inner one.
    best = max(
        found, key=lambda one: (len(own & one.words), -len(one.words)), default=None
    )
    return best.name if best else None


class _Clause(NamedTuple):
    """A clause of a sentence: its words, and its subject, if that can be said."""

    words: frozenset[str]
    name: Optional[str]


# All candidates of a turn are compared with the same sentences.
@lru_cache(maxsize=256)
def _clauses(sentence: str) -> tuple[_Clause, ...]:
    (doc,) = parse_all([joined(sentence)])
    found = [t for t in doc if names(t) and t.pos_ in _NOUNS]
    return tuple(
        _Clause(
            frozenset(tokens(' '.join(token.text for token in t.head.subtree))),
            _phrase(doc, t),
        )
        for t in found
    )


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _phrase(doc: 'Doc', noun: 'Token') -> Optional[str]:
    """A noun with what belongs to it, up to what only says more of it."""
    end = noun.i
    for token in noun.subtree:
        if token.i > end:
            if token.dep_ in _MORE:
                break
            end = token.i
    start = noun.left_edge.i
    return doc[start : end + 1].text if end - start < LONGEST else None
