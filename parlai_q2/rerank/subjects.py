"""
Finds the grammatical subjects of statements in a spaCy parse: whether a reply names its
subject, or leaves it to an earlier turn, and which name it leaves out. "It is a samurai
game." is about "Legend of the 9" if the knowledge is "Legend of the 9 is a samurai game
by Genki". A generator can be asked for a reply that begins with it.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.options import Word
from parlai_q2.text.normalize import tokens
from parlai_q2.text.pipeline import parse_all
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import Passage

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# Dependencies of subjects. "There was agreement" (expl) is a whole statement, too.
_SUBJECT_DEPENDENCIES = frozenset({'nsubj', 'nsubjpass', 'csubj', 'csubjpass', 'expl'})
# Subjects that stand for something mentioned before.
_PRONOUNS = frozenset('it they he she these those'.split())
_PRONOUN = re.compile(rf'\b({"|".join(sorted(_PRONOUNS))})\b', re.I)
# Clauses in a statement may have subjects of their own: "it is a lake that ...".
_CLAUSE_DEPENDENCIES = frozenset({'relcl', 'acl', 'advcl'})
# Subjects of small talk ("that sounds fun") and of clauses do not count.
_IGNORED_SUBJECTS = frozenset('you me this that who what which whom whatever'.split())
# Speakers with one of these verbs ("I see") do not count, either.
_SPEAKERS = frozenset({'i', 'we'})
_CHAT_VERBS = frozenset(
    """
    agree am 'm believe bet did do enjoy feel find found guess had have hear heard hope
    imagine know learn learned like love mean read remember said say see suppose sure
    talk think understand was wish wonder
    """.split()
)
_SPACED_APOSTROPHE = re.compile(r" ' (?=(?:s|re|m|ve|d|ll|t)\b)")
# Longer names are hard to begin a reply with, and probably parsed wrongly.
MAX_NAME_TOKENS = 9
# A reply shares at least this many words with the sentence that it repeats.
MIN_SHARED_WORDS = 2
# Dependencies that only describe a name further end it: "Prus, who wrote ...".
_DESCRIPTIONS = frozenset({'relcl', 'acl', 'appos', 'punct'})
_NOUNS = frozenset({'NOUN', 'PROPN'})


class SubjectKind(Word):
    """How a reply names its subject; the most explicit of its statements counts."""

    NAMED = 'named'
    # Only by a pronoun for something mentioned before: "it directs the church".
    PRONOUN = 'pronoun'
    # No statement at all: "apparently in 1251".
    NONE = 'none'


def find_subject_kinds(replies: Sequence[str]) -> list[SubjectKind]:
    """
    How each of N replies names its subject.

    >>> replies = ['yeah , 1769 . haha', "it ' s a lake .", 'Baikal is a lake.']
    >>> [str(kind) for kind in find_subject_kinds(replies)]
    ['none', 'pronoun', 'named']
    """
    kinds = {reply: _CACHE.get(reply) for reply in replies}
    new = [reply for reply, kind in kinds.items() if kind is None]
    docs = parse_all([_join_apostrophes(r) for r in new], dependencies_only=True)
    for reply, doc in zip(new, docs, strict=True):
        kinds[reply] = _CACHE[reply] = _classify(doc)
    if len(_CACHE) > _CACHE_SIZE:
        _CACHE.clear()
    return [kind for reply in replies if (kind := kinds[reply]) is not None]


# Cached, because two guards ask for the subjects of the same replies.
_CACHE: dict[str, SubjectKind] = {}
_CACHE_SIZE = 4096


def _join_apostrophes(text: str) -> str:
    """Write "it ' s", the form in dialogue data sets, as "it's"."""
    return _SPACED_APOSTROPHE.sub("'", text)


def _names_subject(token: 'Token') -> bool:
    """Whether a token is the subject of a statement and names it."""
    unnamed = _PRONOUNS | _SPEAKERS
    return _is_subject(token) and token.lower_ not in unnamed and token.dep_ != 'expl'


@lru_cache(maxsize=256)
def has_pronoun(text: str) -> bool:
    """
    Whether "it" or a similar pronoun is in a text.

    >>> has_pronoun('They dance.'), has_pronoun('Bees dance.')
    (True, False)
    """
    return _PRONOUN.search(text) is not None


def _classify(doc: 'Doc') -> SubjectKind:
    subjects = [token for token in doc if _is_subject(token)]
    if any(token.lower_ not in _PRONOUNS for token in subjects):
        return SubjectKind.NAMED
    return SubjectKind.PRONOUN if subjects else SubjectKind.NONE


def _is_subject(token: 'Token') -> bool:
    """Whether a token is the subject of a statement that is not small talk."""
    word, verb = token.lower_, token.head.lower_
    return (
        token.dep_ in _SUBJECT_DEPENDENCIES
        and word not in _IGNORED_SUBJECTS
        and not (word in _SPEAKERS and verb in _CHAT_VERBS)
        and not any(head.dep_ in _CLAUSE_DEPENDENCIES for head in token.ancestors)
    )


def find_subject_name(reply: str, passages: Sequence[Passage]) -> str | None:
    """
    Find the name of the subject that a reply leaves out: the subject of the sentence of
    the knowledge that shares most words with the reply; None if no name was found.

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
    # Of two nested clauses, the inner one.
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


# Cached, because all candidates of a turn are compared with the same sentences.
@lru_cache(maxsize=256)
def _find_clauses(sentence: str) -> tuple[_Clause, ...]:
    (doc,) = parse_all([_join_apostrophes(sentence)])
    subjects = [t for t in doc if _names_subject(t) and t.pos_ in _NOUNS]
    clauses = []
    for subject in subjects:
        text = ' '.join(token.text for token in subject.head.subtree)
        clauses.append(_Clause(_word_set(text), _noun_phrase(doc, subject)))
    return tuple(clauses)


@lru_cache(maxsize=256)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _noun_phrase(doc: 'Doc', noun: 'Token') -> str | None:
    """A noun with its phrase, without clauses that only describe it further."""
    end = noun.i
    for token in noun.subtree:
        if token.i > end:
            if token.dep_ in _DESCRIPTIONS:
                break
            end = token.i
    start = noun.left_edge.i
    return doc[start : end + 1].text if end - start < MAX_NAME_TOKENS else None
