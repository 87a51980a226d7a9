"""
Has a detector read amounts by their values (:mod:`parlai_q2.text.agreement`): it reads
an amount that agrees with the knowledge in the knowledge's own words. An amount, an
address or a code that the knowledge does not have is not supported, nor is a number
or name that belongs to something else (:mod:`parlai_q2.text.bindings`).
"""

from collections.abc import Sequence

from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.text.addresses import has_unknown_address
from parlai_q2.text.agreement import conflicts, find_unsupported, restate
from parlai_q2.text.bindings import binds_otherwise

# As signatures print it.
SETTING = {'amounts': 'value', 'bindings': 'on'}
# The most support that an unsupported amount leaves.
MAX_SUPPORT = 0.1


def classify(
    model: NliModel,
    pairs: Sequence[tuple[str, str]],
    knowledge: Sequence[str] | None = None,
    lower: bool = False,
) -> list[NliProbabilities]:
    """
    The probabilities of pairs (premise, hypothesis), in order.

    :param knowledge: for each pair the text whose amounts count; None: the premise.
    :param lower: whether the model reads lower case; amounts are read before ("5M").
    """
    texts = [premise for premise, _ in pairs] if knowledge is None else knowledge
    restated = [(premise, restate(premise, text)) for premise, text in pairs]
    if lower:
        restated = [(premise.lower(), text.lower()) for premise, text in restated]
    return [
        _limit(reading, text, hypothesis)
        for reading, text, (_, hypothesis) in zip(
            model.classify(restated), texts, pairs, strict=True
        )
    ]


def _limit(reading: NliProbabilities, text: str, hypothesis: str) -> NliProbabilities:
    """A reading that supports no amount or address that is not in a text."""
    is_bound_otherwise = binds_otherwise(text, hypothesis)
    if not (
        is_bound_otherwise
        or find_unsupported(text, hypothesis)
        or has_unknown_address(text, hypothesis)
    ):
        return reading
    support = min(reading.entailment, MAX_SUPPORT)
    rest = reading.entailment - support
    if is_bound_otherwise or conflicts(text, hypothesis):
        contradiction = reading.contradiction + rest + reading.generic
        return NliProbabilities(support, reading.neutral, contradiction)
    return reading._replace(entailment=support, neutral=reading.neutral + rest)
