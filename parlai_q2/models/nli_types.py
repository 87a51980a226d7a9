"""Natural language inference: its classes, and the protocol of its models."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from parlai_q2.json_values import JsonObject
from parlai_q2.text.class_map import Finding

if TYPE_CHECKING:
    from parlai_q2.models.tokens import Tokens


class NliProbabilities(NamedTuple):
    """
    The class probabilities of an NLI model for a pair; the four sum to 1. ``generic``,
    that the hypothesis states nothing to check, is 0 for models without such a class.
    """

    entailment: float
    neutral: float
    contradiction: float
    generic: float = 0.0

    @property
    def label(self) -> Finding:
        """The likeliest class; generic counts as neutral."""
        neutral = max(self.neutral, self.generic)
        best = max(self.entailment, neutral, self.contradiction)
        if best == neutral:
            return Finding.NEUTRAL
        entailed = best == self.entailment
        return Finding.ENTAILMENT if entailed else Finding.CONTRADICTION

    def expected(self, neutral: float) -> float:
        """
        The expected value of the classes: 1 for entailment, 0 for contradiction, and
        ``neutral``, in [0, 1], for neutral and generic.
        """
        value = self.entailment + neutral * (self.neutral + self.generic)
        return min(1.0, value)  # a model's probabilities sum only nearly to 1


class NliModel(Protocol):
    """Says whether a premise entails a hypothesis."""

    # The tokenizer shows the characters and languages it knows; None if it accepts any
    # text.
    load_tokenizer: 'Callable[[], Tokens] | None' = None
    # Whether it reads whole documents without normalisation.
    reads_documents: bool = False

    @property
    def settings(self) -> JsonObject:
        """All settings that determine the classes, for signatures."""

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        """The class probabilities of pairs (premise, hypothesis), in order."""
