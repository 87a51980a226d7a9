"""
Tells whether a passage answers a question: the shipped question-answering model reads
the passage, and its best answer has to beat "there is none" by a margin.

The margin was fitted to 213 questions of the model's development data, each asked of
the five passages that BM25 finds among all of that data: at 6 logits, 8 % of the
questions that a passage answers are declined, and a quarter of those whose passage was
taken out, which others often answer in part.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.presets import Section, load_preset
from parlai_q2.scorers.backends import backend
from parlai_q2.turns import Passage, Span, heading_of

MARGIN = 6.0
# However much the model prefers that there is none.
ANY = 1e6
NO_SPAN = Span('', 0, 0)


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
        headings = [_heading_line(passage) for _, passage in pairs]
        texts = [
            (question, heading + passage.text)
            for (question, passage), heading in zip(pairs, headings, strict=True)
        ]
        answers = []
        for (span, margin), heading, (_, passage) in zip(
            self._model.with_margins(texts), headings, pairs, strict=True
        ):
            span = _cut_heading(span or NO_SPAN, len(heading), passage.text)
            answers.append(Answer(span, margin))
        return answers

    def answers(self, pairs: Sequence[tuple[str, Passage]]) -> list[Answer | None]:
        """
        The answer to each question in its passage.

        :return: B answers; None where there is none.
        """
        return [
            answer if answer.margin >= self.margin else None
            for answer in self.read(pairs)
        ]


def _heading_line(passage: Passage) -> str:
    heading = heading_of(passage)
    return f'{heading}\n' if heading else ''


def _cut_heading(span: Span, length: int, text: str) -> Span:
    """A span of a heading's line and a text as one of the text."""
    start, end = max(0, span.start - length), max(0, span.end - length)
    return Span(text[start:end], start, end)
