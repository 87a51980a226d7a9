"""
Reads whether candidates answer the question of their turn, and shows why.

A scorer measures groundedness and reads no turn. Relevance is read apart, and only the
choice combines the two. The shipped reader applies Q2's own idea to the question that
the user asked: it answers the question from the knowledge and from the reply, and
compares. A classifier trained for it (:mod:`parlai_q2.models.relevance`) can take its
place.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp
from typing import Any, Protocol

from parlai_q2.claims import Claim, Evidence, Stance
from parlai_q2.models.question_answering import SpanChoice, SpanQuestionAnswerer
from parlai_q2.models.relevance import RelevancePrediction
from parlai_q2.presets import Section, load_preset
from parlai_q2.q2.ask import Question
from parlai_q2.q2.compare import judge
from parlai_q2.rerank.candidate import Candidate
from parlai_q2.rerank.guards.generic import states_nothing
from parlai_q2.scorers import backends
from parlai_q2.text.greetings import only_greets
from parlai_q2.text.overlap import token_f1
from parlai_q2.text.questions import (
    asks_how_or_why,
    is_question,
    is_yes_no_question,
    only_declines,
    wants_answer,
)
from parlai_q2.text.selection import stems
from parlai_q2.turns import Span, Turn


class RelevanceReader(Protocol):
    """Reads passages, turns and replies together."""

    @property
    def settings(self) -> dict[str, Any]: ...

    def predict(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> Sequence[Any]:
        """
        :param inputs: B tuples of the passages' text, the turns before the reply
            (oldest first) and the reply.
        :return: B predictions like :class:`RelevancePrediction`.
        """
        ...


class AnswerRelevance:
    """
    Reads relevance with a question-answering model: a logistic regression on how surely
    the reply answers the question, how much of the knowledge's answer it has and, of a
    reply that declines, how surely the knowledge has no answer. Where it has none, all
    other replies are equally relevant. Fitted on pools with labelled replies and pools
    made of questions (benchmarks/choice.py). A greeting is answered by a reply that
    states nothing.

    :param preset: whose question-answering model reads.
    """

    # Coefficients: of the reply's own answer, of the knowledge's answer in the reply,
    # of a decline, of a decline although the knowledge answers; and the intercept.
    REPLY_ANSWERS = 1.25
    GIVES_ANSWER = 1.7
    DECLINES = 2.74
    DECLINES_WRONGLY = -4.11
    INTERCEPT = -0.47
    # Of replies to a greeting: that state nothing, and others.
    GREETS, DOES_NOT_GREET = 0.95, 0.3
    # Margins over "no answer" are in logits; this makes a probability of them.
    MARGIN_SCALE, MAX_MARGIN = 2.0, 12.0

    def __init__(self, preset: str = 'mini', **options: Any):
        # However sure it is that there is none, the best answer is wanted.
        self._model = _question_answerer(preset, no_answer_threshold=1e6, **options)

    @property
    def settings(self) -> dict[str, Any]:
        return self._model.settings

    def predict(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> list[RelevancePrediction]:
        """The relevance of B replies; see :class:`RelevanceReader`."""
        questions = [turns[-1] if turns else '' for _, turns, _ in inputs]
        known = self._model.with_margins(
            [(q, text) for q, (text, _, _) in zip(questions, inputs, strict=True)]
        )
        own = self._model.with_margins(
            [(q, reply) for q, (_, _, reply) in zip(questions, inputs, strict=True)]
        )
        return [
            # It does not judge support.
            RelevancePrediction(
                self._greeting_relevance(reply)
                if only_greets(question)
                else self._relevance(reply, answer, reply_answer),
                support=1.0,
            )
            for question, (_, _, reply), answer, reply_answer in zip(
                questions, inputs, known, own, strict=True
            )
        ]

    def _greeting_relevance(self, reply: str) -> float:
        return self.GREETS if states_nothing(reply) else self.DOES_NOT_GREET

    def _relevance(
        self,
        reply: str,
        answer: tuple[Span | None, float],
        reply_answer: tuple[Span | None, float],
    ) -> float:
        is_answered = self._probability(answer[1])
        if only_declines(reply):
            logit = self.DECLINES + self.DECLINES_WRONGLY * is_answered
        else:
            shared = _shared_words(answer[0], reply_answer[0], reply)
            reply_answers = self._probability(reply_answer[1])
            logit = self.REPLY_ANSWERS * is_answered * reply_answers
            logit += self.GIVES_ANSWER * is_answered * shared
        return 1 / (1 + exp(-(logit + self.INTERCEPT)))

    def _probability(self, margin: float) -> float:
        margin = min(max(margin, -self.MAX_MARGIN), self.MAX_MARGIN)
        return 1 / (1 + exp(-margin / self.MARGIN_SCALE))


def _shared_words(answer: Span | None, reply_answer: Span | None, reply: str) -> float:
    """
    How much of the knowledge's answer a reply has, in [0, 1]: the share of its words,
    or token F1 with the reply's own answer, whichever is greater.
    """
    if answer is None:
        return 0.0
    words = stems(answer.text)
    recall = len(words & stems(reply)) / len(words) if words else 0.0
    own = reply_answer.text if reply_answer else ''
    return max(recall, token_f1(own, answer.text) if own else 0.0)


def load_relevance_reader(preset: str, **options: Any) -> RelevanceReader:
    """
    The reader of a preset: its classifier, if it has the section ``relevance``, or else
    its question-answering model.
    """
    loaded = load_preset(preset)
    if Section.RELEVANCE in loaded.models:
        return backends.relevance(loaded, **options)
    return AnswerRelevance(preset, **options)


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


def wants_relevance(text: str) -> bool:
    """
    Whether relevance is read for replies to a turn: it greets, or it asks for more than
    yes or no, which an answer's words do not tell.
    """
    asks = wants_answer(text) and not is_yes_no_question(text)
    return asks or only_greets(text)


class AnswerComparer:
    """
    Compares the answers that the knowledge and a reply give to the question of a turn.

    :param preset: whose question-answering model reads both.
    """

    def __init__(self, preset: str = 'mini', **options: Any):
        self._model = _question_answerer(preset, no_answer_threshold=0.0, **options)

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


def _question_answerer(preset: str, **options: Any) -> Any:
    return backends.backend(
        SpanQuestionAnswerer,
        load_preset(preset),
        Section.QUESTION_ANSWERING,
        reading=SpanChoice.JOINT,
        **options,
    )
