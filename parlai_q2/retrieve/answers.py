"""
Finds the answer to a question in a passage. The shipped question-answering model reads
it, and returns the margin of its best answer over "no answer".
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.presets import Section, load_preset
from parlai_q2.scorers.backends import backend
from parlai_q2.turns import Passage, Span, heading_of

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
    """

    def __init__(self, preset: str = 'mini', **options: Any):
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


def _heading_line(passage: Passage) -> str:
    heading = heading_of(passage)
    return f'{heading}\n' if heading else ''


def _cut_heading(span: Span, length: int, text: str) -> Span:
    """A span of a heading's line and a text as one of the text."""
    start, end = max(0, span.start - length), max(0, span.end - length)
    return Span(text[start:end], start, end)
