"""
Finds what statements are about, their grammatical subjects, in a spaCy parse: whether a
reply names its subject, or leaves it to an earlier turn.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from parlai_q2.enums import Word
from parlai_q2.text.pipeline import parse_all

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
# Nor do the speakers with one of these verbs ("I see").
_SPEAKERS = frozenset({'i', 'we'})
_CHAT_VERBS = frozenset(
    """
    agree am 'm believe bet did do enjoy feel find found guess had have hear heard hope
    imagine know learn learned like love mean read remember said say see suppose sure
    talk think understand was wish wonder
    """.split()
)
_SPACED_APOSTROPHE = re.compile(r" ' (?=(?:s|re|m|ve|d|ll|t)\b)")


class SubjectKind(Word):
    """How a reply names its subject; of several statements, the most explicit one."""

    NAMED = 'named'
    # Only by a pronoun for something mentioned before: "it directs the church".
    PRONOUN = 'pronoun'
    # It makes no statement: "apparently in 1251".
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
    docs = parse_all([join_apostrophes(r) for r in new], dependencies_only=True)
    for reply, doc in zip(new, docs, strict=True):
        kinds[reply] = _CACHE[reply] = _classify(doc)
    if len(_CACHE) > _CACHE_SIZE:
        _CACHE.clear()
    return [kind for reply in replies if (kind := kinds[reply]) is not None]


# Two guards ask for the subjects of the same replies.
_CACHE: dict[str, SubjectKind] = {}
_CACHE_SIZE = 4096


def join_apostrophes(text: str) -> str:
    """A text with "it ' s", as dialogue data sets write it, as "it's"."""
    return _SPACED_APOSTROPHE.sub("'", text)


def is_naming_subject(token: 'Token') -> bool:
    """Whether a token is the subject of a statement and names what that is about."""
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
