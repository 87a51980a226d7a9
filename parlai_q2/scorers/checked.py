"""
The readings of a classifier, limited by what rules find wrong: amounts, addresses and
codes that the knowledge does not have, numbers and names that belong to something else,
and denials of what it does not mention.
"""

from collections.abc import Sequence
from functools import lru_cache

from parlai_q2.claims import Status
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.text.addresses import has_unknown_address
from parlai_q2.text.agreement import conflicts, unsupported_amounts
from parlai_q2.text.bindings import binds_otherwise
from parlai_q2.text.denials import denies_unmentioned
from parlai_q2.text.hours import complete_hours, contradicts_schedule
from parlai_q2.text.lists import reorder_lists
from parlai_q2.text.phrases import reorder_phrases
from parlai_q2.text.restate import restate

# The most support that an unsupported amount leaves.
MAX_SUPPORT = 0.1


def classify(
    model: NliModel, texts: Sequence[tuple[str, str, str]], lower: bool = False
) -> list[NliProbabilities]:
    """
    Classify B premises and hypotheses.

    :param texts: B times the premise, the hypothesis, and the knowledge, whose amounts
        count.
    :param lower: whether the model reads lower case; amounts are read before ("5M").
    :return: B probabilities, in order.
    """
    restated: list[tuple[str, str]] = []
    statuses: list[Status] = []
    for premise, text, knowledge in texts:
        restated.append((premise, as_read(premise, text)))
        statuses.append(check_values(knowledge, text))
    if lower:
        restated = [(premise.lower(), text.lower()) for premise, text in restated]
    return list(map(_limit, model.classify(restated), statuses))


def as_read(premise: str, text: str) -> str:
    """A hypothesis with amounts, hours, lists and phrases as its premise has them."""
    text = complete_hours(premise, restate(premise, text))
    return reorder_phrases(premise, reorder_lists(premise, text))


def _limit(reading: NliProbabilities, status: Status) -> NliProbabilities:
    """A reading that supports no more than :func:`check_values` allows."""
    if status == Status.SUPPORTED:
        return reading
    # Support is the share of entailment in what is not generic.
    support = min(reading.entailment, MAX_SUPPORT * (1 - reading.generic))
    rest = reading.entailment - support
    if status == Status.CONTRADICTED:
        contradiction = reading.contradiction + rest + reading.generic
        return NliProbabilities(support, reading.neutral, contradiction)
    return reading._replace(entailment=support, neutral=reading.neutral + rest)


# A statement is read with several parts of its knowledge, and again if it is doubted,
# after all others of its chunk.
@lru_cache(maxsize=512)
def check_values(text: str, hypothesis: str) -> Status:
    """
    What a text says of the amounts, addresses, codes and names of a hypothesis, as far
    as rules can tell: supported if they see nothing wrong.
    """
    if binds_otherwise(text, hypothesis) or contradicts_schedule(text, hypothesis):
        return Status.CONTRADICTED
    if unsupported_amounts(text, hypothesis):
        is_contradicted = conflicts(text, hypothesis)
        return Status.CONTRADICTED if is_contradicted else Status.UNSUPPORTED
    if has_unknown_address(text, hypothesis) or denies_unmentioned(text, hypothesis):
        return Status.UNSUPPORTED
    return Status.SUPPORTED
