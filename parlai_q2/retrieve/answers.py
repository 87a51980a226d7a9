"""
Tells whether a passage answers a question: the shipped question-answering model reads
the passage, and its best answer has to beat "there is none" by a margin.

The margin was fitted to 213 questions of the model's development data, each asked of
the five passages that BM25 finds among all of that data: at 6 logits, 8 % of the
questions that a passage answers are declined, and a quarter of those whose passage was
taken out, which others often answer in part.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Optional

from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.presets import Section, load_preset
from parlai_q2.scorers.backends import backend
from parlai_q2.turns import Passage, Span, heading_of

MARGIN = 6.0
# However much the model prefers that there is none.
ANY = 1e6
NO_SPAN = Span('', 0, 0)
_YES_OR_NO = frozenset(
    'is are was were do does did can could may might shall should will would has have '
    'am must'.split()
)
_QUESTION_WORDS = _YES_OR_NO | frozenset(
    'what which who whom whose when where why how'.split()
)
_WAY = re.compile(r'\W*(why|how\s+(do|does|did|can|could|should|would|to|is|are)\b)')
_WORD = re.compile(r"[a-z']+")


def asks(text: str) -> bool:
    """
    Whether a turn is a question: small talk needs no answer from a document.

    >>> asks('How long is the warranty?'), asks('Thanks, that helps!')
    (True, False)
    """
    if '?' in text:
        return True
    last = re.split(r'[.!]\s', text.strip())[-1]
    first = _WORD.search(last.lower())
    return first is not None and first[0] in _QUESTION_WORDS


def wants_yes_or_no(question: str) -> bool:
    """
    Whether a question may be answered by yes or no.

    >>> wants_yes_or_no('Hello. Can I return it?'), wants_yes_or_no('How long is it?')
    (True, False)
    """
    last = [one for one in re.split(r'[.!?]\s', question.strip()) if one.strip()][-1:]
    first = _WORD.search(last[0].lower()) if last else None
    return first is not None and first[0] in _YES_OR_NO


def wants_a_way(question: str) -> bool:
    """
    Whether a question asks how something is done, or why: what answers it is a passage
    and no span.

    >>> wants_a_way('Hello. How do I return it?'), wants_a_way('How long is it?')
    (True, False)
    """
    last = [one for one in re.split(r'[.!?]\s', question.strip()) if one.strip()][-1:]
    return bool(last) and _WAY.match(last[0].lower()) is not None


class Answer(NamedTuple):
    """
    An answer that was read in a passage.

    :param span: where in its text; empty where the heading has it.
    :param margin: by how many logits it beats that there is none.
    """

    span: Span
    margin: float


class AnswerReader:
    """
    Reads passages for the answers to questions.

    :param preset: whose question-answering model reads.
    :param margin: by how many logits an answer beats that there is none.
    """

    def __init__(self, preset: str = 'mini', margin: float = MARGIN, **options: Any):
        self.margin = margin
        self._model = backend(
            SpanQuestionAnswerer,
            load_preset(preset),
            Section.QUESTION_ANSWERING,
            reading=SpanChoice.JOINT,
            no_answer_threshold=ANY,
            **options,
        )

    def read(self, pairs: Sequence[tuple[str, Passage]]) -> list[Answer]:
        """
        The best answer to each question in its passage, however unsure.

        :param pairs: B questions with passages, which are read with their headings.
        """
        heads = [_head(passage) for _, passage in pairs]
        read = self._model.with_margins(
            [(q, head + p.text) for (q, p), head in zip(pairs, heads, strict=True)]
        )
        return [
            Answer(_inside(span or NO_SPAN, len(head), p.text), margin)
            for (span, margin), head, (_, p) in zip(read, heads, pairs, strict=True)
        ]

    def answers(self, pairs: Sequence[tuple[str, Passage]]) -> list[Optional[Answer]]:
        """
        The answer to each question in its passage.

        :return: B answers; None where there is none.
        """
        return [one if one.margin >= self.margin else None for one in self.read(pairs)]


def _head(passage: Passage) -> str:
    heading = heading_of(passage)
    return f'{heading}\n' if heading else ''


def _inside(found: Span, skipped: int, text: str) -> Span:
    start, end = (max(0, place - skipped) for place in (found.start, found.end))
    return Span(text[start:end], start, end)
