"""
What Q2 needs of its three models. Anything with these methods can take part.
"""

from typing import Any, NamedTuple, Optional, Protocol, Sequence

from parlai_q2.records import Span


class NliProbabilities(NamedTuple):
    """
    What an NLI model says of a pair; the four sum to 1.

    :param generic: the hypothesis states nothing that could be checked; 0 for models
        that have no such class.
    """

    entailment: float
    neutral: float
    contradiction: float
    generic: float = 0.0

    @property
    def label(self) -> str:
        """
        The likeliest class: entailment, neutral or contradiction; generic is neutral.
        """
        neutral = max(self.neutral, self.generic)
        best = max(self.entailment, neutral, self.contradiction)
        if best == neutral:
            return 'neutral'
        return 'entailment' if best == self.entailment else 'contradiction'

    def expected(self, neutral: float) -> float:
        """
        The mean value of the classes by their probabilities: entailment counts 1,
        contradiction 0.

        :param neutral: the value of neutral and of generic, in [0, 1].
        """
        value = self.entailment + neutral * (self.neutral + self.generic)
        return min(1.0, value)  # probabilities of a model sum to 1 only nearly


class QuestionGenerator(Protocol):
    """
    Asks for a span of a text.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """
        What decides the questions, for signatures.
        """

    def generate(self, pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
        """
        Questions for spans.

        :param pairs: S pairs (span text, the text it stands in).
        :return: S lists of questions, best first.
        """


class QuestionAnswerer(Protocol):
    """
    Answers a question from a text, or says that the text has no answer.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """
        What decides the answers, for signatures.
        """

    def answer(self, pairs: Sequence[tuple[str, str]]) -> list[Optional[Span]]:
        """
        Answers as spans of their texts.

        :param pairs: Q pairs (question, text).
        :return: Q spans, None where the text has no answer.
        """


class NliModel(Protocol):
    """
    Says whether a premise entails a hypothesis.
    """

    @property
    def settings(self) -> dict[str, Any]:
        """
        What decides the classes, for signatures.
        """

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        """
        Class probabilities of pairs.

        :param pairs: pairs (premise, hypothesis).
        :return: as many probabilities.
        """
