"""
Deterministic stand-ins for the three models, whose results you can work out by hand.

They are for tests of the metric's logic and for documentation. No preset or scorer name
refers to them; you have to create them yourself.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.turns import Span


class ToyQuestionGenerator:
    """
    Looks up the questions of a span.

    :param questions: maps the text of a span to its questions, best first. An unknown
        span gets the single question ``Which <span>?``.
    """

    def __init__(self, questions: Mapping[str, Sequence[str]] | None = None):
        self.questions = dict(questions or {})
        self.calls: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {'qg': 'toy'}

    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        self.calls.append(len(pairs))
        return [list(self.questions.get(span, [f'Which {span}?'])) for span, _ in pairs]


class ToyQuestionAnswerer:
    """
    Looks up the answers to a question, and gives the first one that occurs in the text.

    :param answers: maps a question to its possible answers. An unknown question of the
        form ``Which <span>?`` is answered by the span.
    """

    def __init__(self, answers: Mapping[str, Sequence[str]] | None = None):
        self.answers = dict(answers or {})
        self.calls: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {'qa': 'toy'}

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Span | None]:
        self.calls.append(len(pairs))
        return [self._one(question, text) for question, text in pairs]

    def _one(self, question: str, text: str) -> Span | None:
        default = re.sub(r'^Which (.*)\?$', r'\1', question)
        for answer in self.answers.get(question, [default]):
            start = text.lower().find(answer.lower())
            if start >= 0:
                end = start + len(answer)
                return Span(text[start:end], start, end)
        return None


class ToyNliModel:
    """
    Looks up the label of a pair; an unknown pair is neutral.

    :param labels: maps (premise, hypothesis) to entailment, neutral, contradiction or
        generic.
    """

    def __init__(
        self, labels: Mapping[tuple[str, str], str] | None = None, role: str = 'nli'
    ):
        self.labels, self.role = dict(labels or {}), role
        self.calls: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {self.role: 'toy'}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        self.calls.append(len(pairs))
        nothing = {'entailment': 0.0, 'neutral': 0.0, 'contradiction': 0.0}
        return [
            NliProbabilities(**{**nothing, self.labels.get(pair, 'neutral'): 1.0})
            for pair in pairs
        ]
