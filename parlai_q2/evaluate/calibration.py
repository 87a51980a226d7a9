"""
Measures how well probabilities are calibrated: reliability in bins of equal width,
expected calibration error (Guo et al. 2017, section 2) and Brier score.
"""

from dataclasses import dataclass
from typing import NamedTuple, Sequence

BINS = 10


@dataclass(frozen=True)
class Bin:
    """
    The predictions between two bounds, of which the upper one belongs to the bin.

    :param count: how many predictions there are, at least 1.
    :param confidence: their mean, in [0, 1].
    :param share: the share that is positive, in [0, 1].
    """

    low: float
    high: float
    count: int
    confidence: float
    share: float


class Calibration(NamedTuple):
    """
    How well probabilities are calibrated.

    :param bins: the bins that are not empty, from 0 to 1.
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
    import numpy as np

    p, y = np.asarray(probabilities, float), np.asarray(positive, float)
    if not len(p) or len(p) != len(y):
        raise ValueError(
            f'{len(p)} probabilities and {len(y)} outcomes: the numbers must be '
            'equal, and at least 1.'
        )
    bad = p[~((p >= 0) & (p <= 1))]
    if len(bad):
        raise ValueError(f'A probability must be in [0, 1], not {bad[0]}.')
    # A bound belongs to the bin below it, as in Guo et al.; 0 is in the first bin.
    place = np.searchsorted(np.arange(1, bins + 1) / bins, p, side='left')
    found = []
    for i in range(bins):
        inside = place == i
        if inside.any():
            means = float(p[inside].mean()), float(y[inside].mean())
            found.append(Bin(i / bins, (i + 1) / bins, int(inside.sum()), *means))
    error = sum(b.count / len(p) * abs(b.share - b.confidence) for b in found)
    return Calibration(tuple(found), error, float(((p - y) ** 2).mean()))
