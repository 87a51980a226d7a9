"""
Finds what statements are about, their subjects, in a spaCy parse: whether a reply names
it, or leaves it to what was said before.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from parlai_q2.enums import Word
from parlai_q2.text.pipeline import parse_all

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# "There was agreement" says all that there is to say, too.
_SUBJECTS = frozenset({'nsubj', 'nsubjpass', 'csubj', 'csubjpass', 'expl'})
# Subjects that stand for something said before.
_PRONOUNS = frozenset('it they he she these those'.split())
_PRONOUN = re.compile(rf'\b({"|".join(sorted(_PRONOUNS))})\b', re.I)
# Clauses in a statement, which may have subjects of their own: "it is a lake that ...".
_CLAUSES = frozenset({'relcl', 'acl', 'advcl'})
# Subjects of small talk ("that sounds fun") and of clauses: passed over.
_OTHERS = frozenset('you me this that who what which whom whatever'.split())
# So are those who speak, of these verbs ("I see").
_SELVES = frozenset({'i', 'we'})
_CHAT = frozenset(
    """
    agree am 'm believe bet did do enjoy feel find found guess had have hear heard hope
    imagine know learn learned like love mean read remember said say see suppose sure
    talk think understand was wish wonder
    """.split()
)
_APART = re.compile(r" ' (?=(?:s|re|m|ve|d|ll|t)\b)")


class Subject(Word):
    """What a reply says of what it is about, the most that any statement of it says."""

    NAMED = 'named'
    # Only what stands for something said before: "it directs the church".
    PRONOUN = 'pronoun'
    # It states nothing: "apparently in 1251".
    NONE = 'none'


def subjects(replies: Sequence[str]) -> list[Subject]:
    """
    How each of N replies says what it is about.

    >>> replies = ['yeah , 1769 . haha', "it ' s a lake .", 'Baikal is a lake.']
    >>> [str(one) for one in subjects(replies)]
    ['none', 'pronoun', 'named']
    """
    parsed = parse_all(list(map(joined, replies)), dependencies_only=True)
    return [_subject(doc) for doc in parsed]


def joined(text: str) -> str:
    """A text with "it ' s", as data sets of dialogues have it, as "it's"."""
    return _APART.sub("'", text)


def names(token: 'Token') -> bool:
    """Whether a token is the subject of a statement and says what that is about."""
    others = _PRONOUNS | _SELVES
    return _tells(token) and token.lower_ not in others and token.dep_ != 'expl'


def has_pronoun(text: str) -> bool:
    """
    Whether "it" or the like is in a text, for whatever it stands.

    >>> has_pronoun('They dance.'), has_pronoun('Bees dance.')
    (True, False)
    """
    return _PRONOUN.search(text) is not None


def _subject(doc: 'Doc') -> Subject:
    found = [t for t in doc if _tells(t)]
    if any(token.lower_ not in _PRONOUNS for token in found):
        return Subject.NAMED
    return Subject.PRONOUN if found else Subject.NONE


def _tells(token: 'Token') -> bool:
    """Whether a token is the subject of a statement that is no small talk."""
    word, verb = token.lower_, token.head.lower_
    return (
        token.dep_ in _SUBJECTS
        and word not in _OTHERS
        and not (word in _SELVES and verb in _CHAT)
        and not any(head.dep_ in _CLAUSES for head in token.ancestors)
    )
