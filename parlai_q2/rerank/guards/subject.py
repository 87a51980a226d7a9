"""
Detects replies that do not name what they are about. Their words occur in a passage
that may be about something else than the turn, so a scorer, which does not read the
turn, supports them.

Readers judged 790 replies that the detector called consistent: 0.65 of those that these
guards call unnamed were wrong, 0.25 of those with a pronoun like the knowledge's, and
0.14 of the others. The guards leave alone what the last turns name, and direct answers
to questions: "Two years." is a good answer.
"""

from collections.abc import Sequence

from parlai_q2.claims import Label
from parlai_q2.rerank.guards.base import Guard, ScoredReply
from parlai_q2.rerank.subjects import (
    SubjectKind,
    find_subject_kinds,
    find_subject_name,
    has_pronoun,
)
from parlai_q2.text.normalize import tokens
from parlai_q2.text.questions import is_question
from parlai_q2.turns import Example

# The number of last turns that a pronoun may refer to: a question and its context.
CONTEXT_TURNS = 2


class _SubjectGuard(Guard):
    """Parses the replies that may be chosen, the consistent ones that follow a turn."""

    def detect(self, reply: ScoredReply) -> bool:
        return self.detect_batch([reply])[0]

    def detect_batch(self, replies: Sequence[ScoredReply]) -> list[bool]:
        eligible = [
            index
            for index, reply in enumerate(replies)
            if reply.has_models
            and reply.score.label == Label.CONSISTENT
            and reply.example.text
        ]
        detected = [False] * len(replies)
        if not eligible:
            return detected
        kinds = find_subject_kinds([replies[i].example.response for i in eligible])
        for index, kind in zip(eligible, kinds, strict=True):
            detected[index] = self.detect_kind(kind, replies[index].example)
        return detected

    def detect_kind(self, kind: SubjectKind, example: Example) -> bool:
        """Whether the guard holds for a reply with such a subject."""
        raise NotImplementedError


class UnnamedGuard(_SubjectGuard):
    """
    A reply about something that neither the last turns nor the reply name loses to most
    consistent replies.
    """

    name = 'unnamed'
    penalty = 0.3
    message = 'a reply about something that nobody named'

    def detect_kind(self, kind: SubjectKind, example: Example) -> bool:
        if kind == SubjectKind.NONE:
            return not is_question(example.text)
        return (
            kind == SubjectKind.PRONOUN
            and not has_pronoun(example.knowledge_text)
            and not is_subject_known(example)
        )


class PronounGuard(_SubjectGuard):
    """A reply with a pronoun of the knowledge loses to an equal reply with a name."""

    name = 'pronoun'
    penalty = 0.05
    message = 'a pronoun for what the knowledge, too, has a pronoun for'

    def detect_kind(self, kind: SubjectKind, example: Example) -> bool:
        return (
            kind == SubjectKind.PRONOUN
            and has_pronoun(example.knowledge_text)
            and not is_subject_known(example)
        )


def is_subject_known(example: Example) -> bool:
    """
    Whether the last turns name the subject that a reply leaves out: a statement by all
    words of its name, a question by one of them. If the knowledge has no name for it,
    every question counts as naming it.

    >>> knowledge = 'The Basic plan costs 9 euros. The Pro plan costs 19 euros.'
    >>> turn = ['What does Pro cost?']
    >>> is_subject_known(Example(knowledge, 'It costs 19 euros.', turn))
    True
    """
    name = find_subject_name(example.response, example.knowledge)
    asks = is_question(example.text)
    if name is None:
        return asks
    context = set(tokens(' '.join(example.history[-CONTEXT_TURNS:])))
    name_words = set(tokens(name))
    return not context.isdisjoint(name_words) if asks else context >= name_words
