"""
Has a detector read quantities by their values (:mod:`parlai_q2.text.quantities`): what
agrees with the knowledge is read in the knowledge's own words, and what has its digits
with another unit is contradicted.
"""

from typing import Sequence

from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.text.quantities import contradicts, restated

# As signatures print it.
SETTING = {'quantities': 'value'}
# The most support that a contradicted quantity leaves.
MOST = 0.1


def classify(
    model: NliModel, pairs: Sequence[tuple[str, str]]
) -> list[NliProbabilities]:
    """The probabilities of pairs (premise, hypothesis), in order."""
    asked = [(premise, restated(premise, text)) for premise, text in pairs]
    return [
        contradicted(reading) if contradicts(*pair) else reading
        for pair, reading in zip(pairs, model.classify(asked), strict=True)
    ]


def contradicted(reading: NliProbabilities) -> NliProbabilities:
    """A reading with what is above :data:`MOST` of its support contradicted instead."""
    most = min(reading.entailment, MOST)
    more = reading.entailment - most + reading.generic
    return NliProbabilities(most, reading.neutral, reading.contradiction + more)
