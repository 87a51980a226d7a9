"""
Reads whether candidates answer their turn, and shows why.

A scorer measures groundedness and reads no turn. A small model reads the turn with each
reply (:mod:`parlai_q2.models.relevance`): does the reply answer, and, with the
knowledge beside it, is it the right answer? Only the choice combines these with
groundedness. The question-answering model reads the knowledge once for a turn's answer:
if there is one, a reply without its words is less relevant; if there is none, a reply
that says so is relevant.
"""

import re
from collections.abc import Sequence
from math import log
from typing import Any, NamedTuple, Protocol

from parlai_q2.claims import Claim, Evidence, Stance
from parlai_q2.log_odds import logit, sigmoid
from parlai_q2.models.relevance import AnswerLogits
from parlai_q2.presets import Preset, Section, as_preset, load_preset
from parlai_q2.q2.compare import Question, judge
from parlai_q2.rerank.guards.words import states_nothing
from parlai_q2.scorers import backends
from parlai_q2.text.addresses import has_only_other_kinds
from parlai_q2.text.day_answers import fits_day
from parlai_q2.text.long_turns import shorten_turn
from parlai_q2.text.opposites import speaks_of_opposite
from parlai_q2.text.prepare import prepare_passage
from parlai_q2.text.questions import (
    asks_how_or_why,
    is_question,
    is_yes_no_question,
    only_declines,
    wants_answer,
)
from parlai_q2.text.schedules import concerns_days
from parlai_q2.text.selection import stems
from parlai_q2.text.sentences import sentences
from parlai_q2.turns import PASSAGE_END, Span, Turn

# "No, but it is red.", but not "No smoking." or "No. 14 stops here."
_NEEDLESS_ANSWER = re.compile(
    r'^\W*(?:(?:(?:yes|yeah|yep|nope)\b\W*'
    r'|no(?:\s*[,;:!–-]+\s*|\.\s+(?!\d)|\s+(?=(?:but|he|i|it|she|that|there|they|this|we'
    r'|you)\b)))(?:but\b)?\W*)+(?=\w)',
    re.I,
)
# A question about a day with more words, "And on Sundays?", stands alone.
MOST_LEANING_WORDS = 4
# A reply with its turn.
Pair = tuple[Turn, str]


class RelevanceReader(Protocol):
    """Reads replies in the light of their turns."""

    @property
    def settings(self) -> dict[str, Any]: ...

    def read_relevance(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """The probability that each of B replies answers its turn, in [0, 1]."""
        ...

    def read_right_answers(self, pairs: Sequence[Pair]) -> Sequence[float]:
        """
        The probability that each of B replies is the right answer to its turn by the
        knowledge, in [0, 1].
        """
        ...


class KnownAnswer(NamedTuple):
    """
    The knowledge's answer to the question of a turn.

    :param stems: the stems of the answer's words; empty if no answer was found.
    :param certainty: the probability that the knowledge has an answer, in [0, 1].
    """

    stems: frozenset[str]
    certainty: float


class TurnReader:
    """
    Reads replies with the models of a preset. Its numbers were fitted with those of the
    choice (:data:`~parlai_q2.rerank.worth.GROUNDEDNESS_WEIGHT`).

    :param preset: the preset whose models read: that of the section ``relevance``, and
        the one that answers questions.
    """

    # The logit of whether the knowledge answers, of the margin over "no answer".
    MARGIN_WEIGHT, MARGIN_BIAS, MAX_MARGIN = 0.7, -0.28, 12.0
    # The loss of relevance of a reply without a word of the knowledge's answer.
    OTHER_WORDS = 0.5
    # These make relevance the probability that a reply answers (Platt 1999).
    CALIBRATION_SLOPE, CALIBRATION_INTERCEPT = 1.6, 2.17
    # The share of relevance and right answer that is left if a turn asks for an e-mail
    # address and the reply has a telephone number, or for check-in and it speaks of
    # check-out, or for another day's hours.
    OTHER_THING = 0.3
    # The least probability of a right answer for hours that a schedule has.
    SCHEDULED = 0.9
    # For the log odds that a reply is the right answer: a constant, and the weights of
    # the log probability of its support and of the logit that it is the best one. The
    # weight of support was fitted as 1.48; more of it avoids wrong replies.
    RIGHT_BIAS, SUPPORT_WEIGHT, BEST_WEIGHT = 0.55, 1.9, 0.65
    # The relevance of a decline after a turn that asks nothing.
    NEEDLESS = 0.02

    def __init__(self, preset: str | Preset = 'mini', **options: Any):
        self._model = backends.relevance(as_preset(preset), **options)
        # The margin is needed even if the model is sure that there is no answer.
        self._answerer = backends.answerer(as_preset(preset), backends.ANY, **options)

    @classmethod
    def of(cls, preset: Preset, **options: Any) -> 'TurnReader':
        """
        A reader with the models of a preset, or with mini's if it lacks one.

        :param options: those of a backend, such as ``device``.
        """
        has_both = {Section.RELEVANCE, Section.QUESTION_ANSWERING} <= {*preset.models}
        return cls(preset if has_both else 'mini', **options)

    @property
    def settings(self) -> dict[str, Any]:
        return {**self._model.settings, **self._answerer.settings}

    def read_relevance(self, pairs: Sequence[Pair]) -> list[float]:
        """See :class:`RelevanceReader`."""
        answers = self._find_answers([turn for turn, _ in pairs])
        declines = [only_declines(reply) for _, reply in pairs]
        logits = iter(
            self._model.predict_relevance(
                [
                    (_read_turns(turn), strip_chat(reply, turn.text))
                    for (turn, reply), is_decline in zip(pairs, declines, strict=True)
                    if not is_decline
                ]
            )
        )
        return [
            self._decline_relevance(answer)
            if is_decline
            else self._fitting_share(turn, reply)
            * self._relevance(reply, next(logits), answer)
            for (turn, reply), is_decline, answer in zip(
                pairs, declines, answers, strict=True
            )
        ]

    def read_right_answers(self, pairs: Sequence[Pair]) -> list[float]:
        """See :class:`RelevanceReader`."""
        return [
            self._right_answer(turn, reply, logits)
            for (turn, reply), logits in zip(
                pairs, self.predict_answers(pairs), strict=True
            )
        ]

    def _right_answer(self, turn: Turn, reply: str, logits: AnswerLogits) -> float:
        right = self._fitting_share(turn, reply) * sigmoid(
            self.RIGHT_BIAS
            + self.SUPPORT_WEIGHT * log(sigmoid(logits.support))
            + self.BEST_WEIGHT * logits.best
        )
        return max(right, self.SCHEDULED) if _fits_day(turn, reply) else right

    def predict_answers(self, pairs: Sequence[Pair]) -> list[AnswerLogits]:
        """The model's outputs for B replies with their turns and knowledge."""
        return self._model.predict_answers(
            [
                (read_knowledge(turn), _read_turns(turn), strip_chat(reply, turn.text))
                for turn, reply in pairs
            ]
        )

    def _find_answers(self, turns: Sequence[Turn]) -> list[KnownAnswer | None]:
        """The knowledge's answer to each turn; None for a turn that asks nothing."""
        asking = [n for n, turn in enumerate(turns) if wants_answer(turn.text)]
        read = self._answerer.with_margins(
            [(shorten_turn(turns[n].text), read_knowledge(turns[n])) for n in asking]
        )
        answers: list[KnownAnswer | None] = [None] * len(turns)
        for n, (span, margin) in zip(asking, read, strict=True):
            margin = min(max(margin, -self.MAX_MARGIN), self.MAX_MARGIN)
            certainty = sigmoid(self.MARGIN_WEIGHT * margin + self.MARGIN_BIAS)
            words = frozenset(stems(span.text) if span else ())
            answers[n] = KnownAnswer(words, certainty)
        return answers

    def _decline_relevance(self, answer: KnownAnswer | None) -> float:
        return self.NEEDLESS if answer is None else 1 - answer.certainty

    def _fitting_share(self, turn: Turn, reply: str) -> float:
        """The share of its relevance that is left to a reply about another thing."""
        is_other = (
            has_only_other_kinds(turn.text, reply)
            or speaks_of_opposite(turn.text, reply)
            or _fits_day(turn, reply) is False
        )
        return self.OTHER_THING if is_other else 1.0

    def _relevance(
        self, reply: str, model_logit: float, answer: KnownAnswer | None
    ) -> float:
        relevance = sigmoid(model_logit)
        if answer is not None and answer.stems:
            missing = 1 - len(answer.stems & stems(reply)) / len(answer.stems)
            relevance *= 1 - self.OTHER_WORDS * answer.certainty * missing
        log_odds = self.CALIBRATION_SLOPE * logit(relevance)
        return sigmoid(log_odds + self.CALIBRATION_INTERCEPT)


def read_knowledge(turn: Turn) -> str:
    """
    The knowledge of a turn as scorers read it: without markup, and with records as
    sentences.

    >>> read_knowledge(Turn('plan,price\\nBasic,9 euros\\nPro,19 euros', ['How much?']))
    'The price of Basic is 9 euros.\\nThe price of Pro is 19 euros.'
    """
    with_days = concerns_days(turn.text)
    passages = (prepare_passage(text, with_days) for text in turn.texts)
    return PASSAGE_END.join(passage.text for passage in passages)


def _fits_day(turn: Turn, reply: str) -> bool | None:
    """See :func:`~parlai_q2.text.day_answers.fits_day`."""
    question = shorten_turn(turn.text)
    if not concerns_days(question):
        return None
    leans = len(question.split()) <= MOST_LEANING_WORDS and len(turn.history) > 2
    earlier = turn.history[-3] if leans else ''
    return fits_day(read_knowledge(turn), question, reply, earlier)


def _read_turns(turn: Turn) -> tuple[str, ...]:
    """The turns as the model reads them: a long last one without its preamble."""
    return (*turn.history[:-1], *map(shorten_turn, turn.history[-1:]))


def strip_chat(reply: str, turn_text: str) -> str:
    """
    Strip the chat that small generators add to replies: a yes or no that nobody asked
    for, sentences that state nothing, and a question at the end.

    >>> strip_chat('Me too! It opened in 1903. Have you been there?', 'When was that?')
    'It opened in 1903.'
    """
    parts = [span.text for span in sentences(reply)]
    asks_yes_no = is_yes_no_question(turn_text)
    kept = [
        part
        for part in parts
        if not part.rstrip().endswith('?') and (asks_yes_no or not states_nothing(part))
    ]
    text = ' '.join(kept) if kept and len(kept) < len(parts) else reply
    return text if asks_yes_no else _NEEDLESS_ANSWER.sub('', text)


class AnswerComparer:
    """
    Compares the answers that the knowledge and a reply give to the question of a turn.
    """

    def __init__(self) -> None:
        self._model = backends.answerer(load_preset('mini'), 0.0)

    def compare(self, pairs: Sequence[Pair]) -> list[Claim | None]:
        """
        Find the question and both answers for each of B turns with a reply.

        :return: B claims: ``span`` is the answer in the reply (empty if it has none),
            ``evidence`` that in the knowledge; None if the turn asks nothing, or
            asks a question that no span answers (yes or no, how, why).
        """
        asked = [i for i, (turn, _) in enumerate(pairs) if wants_span(turn.text)]
        queries = []
        for index in asked:
            turn, reply = pairs[index]
            asked_for = shorten_turn(turn.text)
            queries.append((asked_for, reply))
            queries += [(asked_for, passage.text) for passage in turn.knowledge]
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
    spans = [
        (margin, -index, span)
        for index, (span, margin) in enumerate(answers)
        if span is not None and span.text.strip()
    ]
    if not spans:
        return None
    _, index, span = max(spans, key=lambda item: item[:2])
    return Evidence(-index, span, Stance.FOR)
