"""
Finds replies that leave what they are about to the question: "apparently in 1251." or
"It's a technician." Such words occur in a passage that is about something else, so a
scorer, which does not read the question, supports them. They are right only where the
passage answers the question. A statement about "it" or "them" may be about what the
passage is about, and is heard as about what was asked.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from parlai_q2.enums import Word
from parlai_q2.retrieve.answers import AnswerReader, asks, wants_yes_or_no
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Turn

if TYPE_CHECKING:
    from spacy.tokens import Doc

_SUBJECTS = frozenset({'nsubj', 'nsubjpass', 'csubj', 'csubjpass'})
# Subjects that stand for something said before.
_PRONOUNS = frozenset('it they he she these those'.split())
# Subjects of small talk ("I see", "that sounds fun") and of clauses: passed over.
_OTHERS = frozenset('i you we me this that there who what which whom whatever'.split())
# As the parser splits "it's", "isn't" and "'twas".
_BE = frozenset("be is are was were been being 's ’s s re 're 'm am".split())
# "it ' s", as data sets of dialogues have it.
_APART = re.compile(r" ' (?=(?:s|re|m|ve|d|ll|t)\b)")


class Reader(Protocol):
    """Tells which turns' knowledge answers their question."""

    def unanswered(self, turns: Sequence[Turn]) -> list[bool]:
        """Whether the last turn asks for something that the knowledge does not say."""


class QuestionReader:
    """
    Reads the knowledge for the answer to a turn's question, with the model and the
    margin of :class:`~parlai_q2.retrieve.answers.AnswerReader`.
    The model is loaded when a question is first asked.
    """

    def __init__(self) -> None:
        self._reader = AnswerReader()

    def unanswered(self, turns: Sequence[Turn]) -> list[bool]:
        """
        Whether each of B turns answers a question that its knowledge does not.

        A span does not tell yes from no, so of questions that may be answered by yes or
        no, as of turns that ask nothing, this is not said.
        """
        pairs = [
            (number, passage)
            for number, turn in enumerate(turns)
            if asks(turn.text) and not wants_yes_or_no(turn.text)
            for passage in turn.knowledge
        ]
        found = self._reader.answers([(turns[n].text, p) for n, p in pairs])
        unanswered = {number for number, _ in pairs}
        unanswered -= {n for (n, _), one in zip(pairs, found, strict=True) if one}
        return [n in unanswered for n in range(len(turns))]


class Subject(Word):
    """What a reply says of what it is about, the most that any statement of it says."""

    NAMED = 'named'
    # Only what stands for something said before: "it directs the church".
    PRONOUN = 'pronoun'
    # None, or a pronoun with "be", which says what was asked for: "it's a lake".
    NONE = 'none'


def subjects(replies: Sequence[str]) -> list[Subject]:
    """
    How each of N replies says what it is about.

    >>> [str(one) for one in subjects(['yeah , 1769 . haha', "it ' s a lake ."])]
    ['none', 'none']
    >>> [str(one) for one in subjects(['It has islands.', 'Baikal is a lake.'])]
    ['pronoun', 'named']
    """
    joined = [_APART.sub("'", reply) for reply in replies]
    return [_subject(doc) for doc in parse_all(joined, dependencies_only=True)]


def _subject(doc: 'Doc') -> Subject:
    found = [t for t in doc if t.dep_ in _SUBJECTS and t.lower_ not in _OTHERS]
    if any(token.lower_ not in _PRONOUNS for token in found):
        return Subject.NAMED
    if any(token.head.lower_ not in _BE for token in found):
        return Subject.PRONOUN
    return Subject.NONE
