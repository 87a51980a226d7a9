"""
Reads whether candidates answer their turn, and shows why.

A scorer measures groundedness and reads no turn. Relevance is read apart, by a model
that sees passages, turn and reply together
(:mod:`parlai_q2.models.relevance`), and only the choice combines the two.

For people, Q2's own idea is applied to the question of the turn: what the knowledge
answers is compared with what the reply answers.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from parlai_q2.claims import Claim, Evidence, Stance
from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.presets import Section, load_preset
from parlai_q2.q2.ask import Question
from parlai_q2.q2.compare import judge
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.scorers.backends import backend
from parlai_q2.text.questions import asks_how_or_why, is_question, is_yes_no_question
from parlai_q2.turns import Span, Turn


class RelevanceReader(Protocol):
    """Reads passages, turns and reply together; see the shipped model."""

    @property
    def settings(self) -> dict[str, Any]: ...

    def predict(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> Sequence[Any]:
        """
        :param inputs: B tuples of the passages' text, the turns before the reply
            (oldest first) and the reply.
        :return: B predictions, each with ``relevance`` and ``support`` in [0, 1].
        """
        ...


def add_relevance(
    reader: RelevanceReader, pairs: Sequence[tuple[Turn, Candidate]]
) -> list[Candidate]:
    """
    The candidates of B pairs with their relevance to the turn, in one call.
    """
    predictions = reader.predict(
        [(turn.knowledge_text, turn.history, c.text) for turn, c in pairs]
    )
    return [
        replace(
            candidate,
            relevance=float(prediction.relevance),
            turn_support=float(prediction.support),
        )
        for (_, candidate), prediction in zip(pairs, predictions, strict=True)
    ]


class AnswerComparer:
    """
    Compares the answers that the knowledge and a reply give to the question of a turn.

    :param preset: whose question-answering model reads both.
    """

    def __init__(self, preset: str = 'mini', **options: Any):
        self._model = backend(
            SpanQuestionAnswerer,
            load_preset(preset),
            Section.QUESTION_ANSWERING,
            reading=SpanChoice.JOINT,
            no_answer_threshold=0.0,
            **options,
        )

    def compare(self, pairs: Sequence[tuple[Turn, str]]) -> list[Claim | None]:
        """
        For each of B turns with a reply, the question with both answers.

        :return: B claims: ``span`` is the answer in the reply (empty if it has none),
            ``evidence`` that in the knowledge; None where the turn asks nothing, or
            asks what no span answers (yes or no, how, why).
        """
        asked = [i for i, (turn, _) in enumerate(pairs) if wants_span(turn.text)]
        queries = []
        for index in asked:
            turn, reply = pairs[index]
            queries.append((turn.text, reply))
            queries += [(turn.text, passage.text) for passage in turn.knowledge]
        answers = iter(self._model.with_margins(queries))
        claims: list[Claim | None] = [None] * len(pairs)
        for index in asked:
            turn, _ = pairs[index]
            reply_answer, _ = next(answers)
            passage_answers = [next(answers) for _ in turn.knowledge]
            question = Question(turn.text, reply_answer or Span('', 0, 0))
            evidence = _best_evidence(passage_answers)
            (claims[index],) = judge([question], [evidence], nli=None, by_value=True)
        return claims


def wants_span(text: str) -> bool:
    """Whether a turn is a question that a short span answers."""
    return (
        is_question(text) and not is_yes_no_question(text) and not asks_how_or_why(text)
    )


def _best_evidence(answers: Sequence[tuple[Span | None, float]]) -> Evidence | None:
    """The answer with the largest margin; None if no passage has one."""
    found = [
        (margin, -index, span)
        for index, (span, margin) in enumerate(answers)
        if span is not None and span.text.strip()
    ]
    if not found:
        return None
    _, index, span = max(found, key=lambda item: item[:2])
    return Evidence(-index, span, Stance.FOR)
