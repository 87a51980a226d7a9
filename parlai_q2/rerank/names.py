"""
Finds the name that a reply leaves out: "It is a samurai game." is about "Legend of the
9" if the knowledge is "Legend of the 9 is a samurai game by Genki". A generator can be
asked for a reply that begins with it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Optional

from parlai_q2.rerank.unnamed import joined, names
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
    shared = [len(own & set(tokens(text))) for text in said]
    if max(shared, default=0) < LEAST_SHARED:
        return None
    (doc,) = parse_all([joined(said[shared.index(max(shared))])])
    found = [t for t in doc if names(t) and t.pos_ in _NOUNS]
    if not found:
        return None

    def shared_by(subject: 'Token') -> tuple[int, int]:
        # Of a clause and one inside it, the inner one.
        words = tokens(' '.join(token.text for token in subject.head.subtree))
        return len(own & set(words)), -len(words)

    return _phrase(doc, max(found, key=shared_by))


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
