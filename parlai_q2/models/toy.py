"""
Deterministic stand-ins for the three models, small enough to work out by hand.

For tests of the metric's logic and for documentation. No preset and no scorer name
leads here; they take part only where someone builds them.
"""

import re
from typing import Any, Mapping, Optional, Sequence

from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.records import Span


class ToyQuestionGenerator:
    """
    Looks questions up by span.

    :param questions: span text to its questions, best first; a span that is not there
        gets the one question ``Which <span>?``.
    """

    def __init__(self, questions: Optional[Mapping[str, Sequence[str]]] = None):
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
    Looks answers up by question: the first of a question's answers that stands in the
    text.

    :param answers: question to the texts that may answer it. A question that is not
        there, of the form ``Which <span>?``, is answered by the span.
    """

    def __init__(self, answers: Optional[Mapping[str, Sequence[str]]] = None):
        self.answers = dict(answers or {})
        self.calls: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {'qa': 'toy'}

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Optional[Span]]:
        self.calls.append(len(pairs))
        return [self._one(question, text) for question, text in pairs]

    def _one(self, question: str, text: str) -> Optional[Span]:
        default = re.sub(r'^Which (.*)\?$', r'\1', question)
        for answer in self.answers.get(question, [default]):
            start = text.lower().find(answer.lower())
            if start >= 0:
                end = start + len(answer)
                return Span(text[start:end], start, end)
        return None


class ToyNliModel:
    """
    Looks pairs up; a pair that is not there is neutral.

    :param labels: (premise, hypothesis) to entailment, neutral, contradiction or
        generic.
    """

    def __init__(self, labels: Optional[Mapping[tuple[str, str], str]] = None):
        self.labels = dict(labels or {})
        self.calls: list[int] = []

    @property
    def settings(self) -> dict[str, Any]:
        return {'nli': 'toy'}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        self.calls.append(len(pairs))
        nothing = {'entailment': 0.0, 'neutral': 0.0, 'contradiction': 0.0}
        return [
            NliProbabilities(**{**nothing, self.labels.get(pair, 'neutral'): 1.0})
            for pair in pairs
        ]
