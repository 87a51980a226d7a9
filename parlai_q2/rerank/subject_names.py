"""
Finds the name that a reply leaves out: "It is a samurai game." is about "Legend of the
9" if the knowledge is "Legend of the 9 is a samurai game by Genki". A generator can be
asked for a reply that begins with the name.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.rerank.subjects import is_naming_subject, join_apostrophes
from parlai_q2.text.normalize import tokens
from parlai_q2.text.pipeline import parse_all
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Passage

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# Longer names are hard to begin a reply with, and most likely parsed wrongly.
MAX_NAME_TOKENS = 9
# A reply shares at least this many words with the sentence that it repeats.
MIN_SHARED_WORDS = 2
# Dependencies that only describe a name further end it: "Prus, who wrote ...".
_DESCRIPTIONS = frozenset({'relcl', 'acl', 'appos', 'punct'})
_NOUNS = frozenset({'NOUN', 'PROPN'})


def find_subject_name(reply: str, passages: Sequence[Passage]) -> str | None:
    """
    The name of what a reply is about that does not name it: the subject of the sentence
    of the knowledge that shares most words with it; None if no name was found.

    >>> lake = [Passage('Baikal is a lake in Siberia. Bees have five eyes.')]
    >>> find_subject_name('It is in Siberia.', lake)
    'Baikal'
    >>> find_subject_name('It rains.', lake) is None
    True
    """
    reply_words = set(tokens(reply))
    split = chain.from_iterable(sentences(passage.text) for passage in passages)
    texts = [sentence.text for sentence in split]
    overlaps = [len(reply_words & _word_set(text)) for text in texts]
    if max(overlaps, default=0) < MIN_SHARED_WORDS:
        return None
    clauses = _find_clauses(texts[overlaps.index(max(overlaps))])
    # Of a clause and one inside it, the inner one.
    best = max(
        clauses,
        key=lambda clause: (len(reply_words & clause.words), -len(clause.words)),
        default=None,
    )
    return best.name if best else None


class _Clause(NamedTuple):
    """A clause of a sentence: its words, and the name of its subject, if short."""

    words: frozenset[str]
    name: str | None


# All candidates of a turn are compared with the same sentences.
@lru_cache(maxsize=256)
def _find_clauses(sentence: str) -> tuple[_Clause, ...]:
    (doc,) = parse_all([join_apostrophes(sentence)])
    subjects = [t for t in doc if is_naming_subject(t) and t.pos_ in _NOUNS]
    clauses = []
    for subject in subjects:
        text = ' '.join(token.text for token in subject.head.subtree)
        clauses.append(_Clause(_word_set(text), _noun_phrase(doc, subject)))
    return tuple(clauses)


@lru_cache(maxsize=256)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _noun_phrase(doc: 'Doc', noun: 'Token') -> str | None:
    """A noun with its phrase, up to what only describes it further."""
    end = noun.i
    for token in noun.subtree:
        if token.i > end:
            if token.dep_ in _DESCRIPTIONS:
                break
            end = token.i
    start = noun.left_edge.i
    return doc[start : end + 1].text if end - start < MAX_NAME_TOKENS else None
