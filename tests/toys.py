"""Deterministic stand-ins for the three models, with results worked out by hand."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.turns import Span


class ToyQuestionGenerator:
    """Looks up the questions of a span, best first; by default ``Which <span>?``."""

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
    """Gives the first answer in the text; to ``Which <span>?``, the span."""

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


class ToyNliModel(NliModel):
    """Looks up the label of (premise, hypothesis); an unknown pair is neutral."""

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
