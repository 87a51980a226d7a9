"""
Measures how well probabilities are calibrated: reliability, expected calibration error
and Brier score.

Bins have equal width (Guo et al. 2017, section 2). The share of positives in a bin has
a Wilson interval (Wilson 1927), which stays in [0, 1] even for few responses.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Optional, Sequence

from parlai_q2.bootstrap import Interval

BINS = 10
# The normal quantile of a 95 % interval.
Z = 1.959963984540054


@dataclass(frozen=True)
class Bin:
    """
    The predictions between two bounds, of which the upper one belongs to the bin.

    :param low: lower bound, in [0, 1].
    :param high: upper bound, in [0, 1].
    :param count: how many predictions there are.
    :param confidence: their mean; None in an empty bin.
    :param share: the share that is positive, with its interval; None in an empty bin.
    """

    low: float
    high: float
    count: int
    confidence: Optional[float]
    share: Optional[Interval]


@dataclass(frozen=True)
class Calibration:
    """
    How well probabilities are calibrated.

    :param bins: the bins, from 0 to 1.
    :param error: expected calibration error, in [0, 1].
    :param brier: mean squared difference of probability and outcome, in [0, 1].
    """

    bins: tuple[Bin, ...]
    error: float
    brier: float


def calibration(
    probabilities: Sequence[float], positive: Sequence[bool], bins: int = BINS
) -> Calibration:
    """
    Compare probabilities with outcomes.

    :param probabilities: n values in [0, 1].
    :param positive: n outcomes.
    :param bins: number of bins, of equal width.
    :raises ValueError: when there are no values, the two lengths differ, or a value is
        not a probability.
    """
    if not len(probabilities) or len(probabilities) != len(positive):
        raise ValueError(
            f'{len(probabilities)} probabilities and {len(positive)} outcomes: '
            'the numbers must be equal, and at least 1.'
        )
    bad = [p for p in probabilities if not 0 <= p <= 1]
    if bad:
        raise ValueError(f'A probability must be in [0, 1], not {bad[0]}.')
    held: list[list[tuple[float, bool]]] = [[] for _ in range(bins)]
    for probability, outcome in zip(probabilities, positive, strict=True):
        # A bound belongs to the bin below it, as in Guo et al.; 0 is in the first bin.
        index = next(i for i in range(bins) if probability <= (i + 1) / bins)
        held[index].append((float(probability), bool(outcome)))
    found, error = [], 0.0
    for i, inside in enumerate(held):
        confidence = share = None
        if inside:
            confidence = sum(p for p, _ in inside) / len(inside)
            share = wilson(sum(outcome for _, outcome in inside), len(inside))
            error += len(inside) / len(probabilities) * abs(share.mean - confidence)
        found.append(Bin(i / bins, (i + 1) / bins, len(inside), confidence, share))
    squares = [(p - bool(o)) ** 2 for p, o in zip(probabilities, positive)]
    return Calibration(tuple(found), error, sum(squares) / len(squares))


def wilson(successes: int, count: int) -> Interval:
    """
    A share with its 95 % Wilson interval.

    :param successes: number of successes, in [0, ``count``].
    :param count: number of trials, at least 1.
    """
    share = successes / count
    middle = (share + Z * Z / (2 * count)) / (1 + Z * Z / count)
    spread = sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    half = Z * spread / (1 + Z * Z / count)
    # The interval contains the share; rounding alone could exclude 0 or 1.
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return Interval(share, min(share, low), max(share, high))
