"""
Chooses among scored candidates.

It takes plain numbers and returns an order; nothing here needs torch. There are three
rules:

- ``score``: the most grounded candidate;
- ``score_plus_generator``: the best sum of the score and the weighted mean log
  probability of a token under the generator;
- ``threshold``: the first in the generator's order that passes the scorer's threshold.

Ties follow the generator's order. Candidates within a tolerance of the best count as
tied with it, so the generator's favourite among them is said: a hundredth of a score is
no reason for an odder sentence. When nothing can be verified, the generator's first
choice stands.
"""

from dataclasses import dataclass
from typing import Callable, Optional, Sequence

SCORE = 'score'
SCORE_PLUS_GENERATOR = 'score_plus_generator'
THRESHOLD = 'threshold'
RULES = (SCORE, SCORE_PLUS_GENERATOR, THRESHOLD)

# A mean log probability of a token is around -1 and a score is in [0, 1]: at this
# weight the generator decides between candidates whose scores differ by up to about
# 0.1.
DEFAULT_GENERATOR_WEIGHT = 0.1

# Candidates this close to the best count as equally good.
DEFAULT_TOLERANCE = 0.02
# Digits that count when scores are compared: batching changes the last digits.
_DIGITS = 6


class Reason:
    """
    Why a candidate was chosen, in a few words.
    """

    BEST = 'best score'
    BEST_TOGETHER = 'best score together with the generator'
    NEARLY_BEST = "as good as the best, and the generator's favourite"
    FIRST_ABOVE = 'first above the threshold'
    NONE_ABOVE = "none above the threshold: the generator's first"
    UNVERIFIABLE = "nothing to verify: the generator's first"
    NO_KNOWLEDGE = "no knowledge: the generator's first"
    ABSTAINED = 'best score is below --abstain-below'


@dataclass(frozen=True)
class Option:
    """
    One candidate as the choice sees it.

    :param value: its score after the guards, in [0, 1]; None when it was pruned.
    :param score: the scorer's score before the guards; None when it was pruned.
    :param verifiable: whether it contained anything to verify.
    :param mean_logprob: the generator's mean log probability of a token, in nats.
    :param pruned_by: the prefilter's value, by which pruned candidates are ordered.
    """

    value: Optional[float]
    score: Optional[float]
    verifiable: bool = True
    mean_logprob: float = 0.0
    pruned_by: float = 0.0


@dataclass(frozen=True)
class Rule:
    """
    How to choose.

    :param by: one of :data:`RULES`.
    :param generator_weight: the weight of the mean log probability, for
        ``score_plus_generator``.
    :param threshold: for ``threshold``, a value must be above this; in [0, 1].
    :param tolerance: how far below the best a value may be and still tie with it.
    :param abstain_below: abstain when the chosen score is below this; None to never
        abstain.
    """

    by: str = SCORE
    generator_weight: float = DEFAULT_GENERATOR_WEIGHT
    threshold: float = 0.5
    tolerance: float = DEFAULT_TOLERANCE
    abstain_below: Optional[float] = None


@dataclass(frozen=True)
class Choice:
    """
    What was chosen.

    :param order: the places of the N options, best first.
    :param reason: one of the texts in :class:`Reason`.
    :param abstain: whether to say the abstaining text instead.
    """

    order: tuple[int, ...]
    reason: str
    abstain: bool = False


def choose(options: Sequence[Option], rule: Rule) -> Choice:
    """
    Put candidates in order.

    :param options: N candidates in the generator's order, at least one.
    :param rule: how to choose.
    :return: the choice. Pruned candidates come last, ordered by the prefilter.
    """
    places = range(len(options))
    if not any(o.verifiable and o.value is not None for o in options):
        return Choice(tuple(places), Reason.UNVERIFIABLE)
    rank = _ranks(rule)

    def key(place: int) -> tuple[bool, float]:
        option = options[place]
        if option.value is None:
            return True, round(-option.pruned_by, _DIGITS)
        return False, round(rank(option, option.value), _DIGITS)

    order = sorted(places, key=key)
    # A key is a rank, so smaller is better.
    nearly = key(order[0])[1] + rule.tolerance
    tied = [place for place in order if key(place) <= (False, round(nearly, _DIGITS))]
    as_good = key(min(tied)) != key(order[0])
    order.remove(first := min(tied))
    order.insert(0, first)
    best = options[first]
    if _abstains(best, rule):
        return Choice(tuple(order), Reason.ABSTAINED, abstain=True)
    reason = Reason.NEARLY_BEST if as_good else _reason(best, rule)
    return Choice(tuple(order), reason)


def _ranks(rule: Rule) -> Callable[[Option, float], float]:
    if rule.by == THRESHOLD:
        return lambda option, value: float(value <= rule.threshold)
    if rule.by == SCORE_PLUS_GENERATOR:
        return lambda o, value: -(value + rule.generator_weight * o.mean_logprob)
    return lambda option, value: -value


def _abstains(best: Option, rule: Rule) -> bool:
    # What cannot be verified is not a hallucination, so it is no reason to abstain.
    return (
        rule.abstain_below is not None
        and best.verifiable
        and best.score is not None
        and best.score < rule.abstain_below
    )


def _reason(best: Option, rule: Rule) -> str:
    if rule.by == THRESHOLD:
        above = best.value is not None and best.value > rule.threshold
        return Reason.FIRST_ABOVE if above else Reason.NONE_ABOVE
    return Reason.BEST_TOGETHER if rule.by == SCORE_PLUS_GENERATOR else Reason.BEST
