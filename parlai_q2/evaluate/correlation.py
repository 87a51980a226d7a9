"""
Correlates scores with human ratings: Spearman and Pearson, with bootstrap intervals.

It follows Honovich et al. 2021, section 5.3 (Topical-Chat, Table 5).
"""

from typing import TYPE_CHECKING, Hashable, NamedTuple, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, intervals, ratio

if TYPE_CHECKING:
    import numpy as np


class Correlation(NamedTuple):
    """
    Both coefficients, each in [-1, 1], and the number of responses behind them.
    """

    spearman: Optional[Interval]
    pearson: Optional[Interval]
    responses: int


def correlation(
    scores: Sequence[float],
    ratings: Sequence[float],
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Optional[Sequence[Hashable]] = None,
) -> Correlation:
    """
    Correlate scores with ratings.

    :param scores: n scores.
    :param ratings: n ratings on any scale.
    :param rounds: number of bootstrap resamples.
    :param seed: seed of the resampling.
    :param groups: n group names; responses of one group are drawn together. None draws
        each response alone.
    :return: both coefficients, each None where it is undefined: for fewer than two
        responses, or where all scores or all ratings are equal.
    """
    import numpy as np

    x, y = np.asarray(scores, float), np.asarray(ratings, float)
    if not len(x):
        return Correlation(None, None, 0)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        # Ranks are computed anew in each resample, as calling scipy on it would.
        ranked = pearson(weights, ranks(weights, x), ranks(weights, y))
        shape = weights.shape
        plain = pearson(weights, np.broadcast_to(x, shape), np.broadcast_to(y, shape))
        return np.stack([ranked, plain], axis=1)

    spearman, linear = intervals(statistic, len(x), rounds, seed, groups)
    return Correlation(spearman, linear, len(x))


def ranks(weights: 'np.ndarray', values: 'np.ndarray') -> 'np.ndarray':
    """
    The rank of each response within each resample; ties share their mean rank.

    :param weights: (R, n), how often each response counts.
    :param values: n numbers.
    :return: (R, n). A response that was not drawn has a rank too, with no weight.
    """
    import numpy as np

    _, place = np.unique(values, return_inverse=True)
    of_value = np.zeros((len(weights), place.max() + 1))
    np.add.at(of_value.T, place, weights.T)
    before = np.cumsum(of_value, axis=1) - of_value
    return (before + (of_value + 1) / 2)[:, place]


def pearson(weights: 'np.ndarray', a: 'np.ndarray', b: 'np.ndarray') -> 'np.ndarray':
    """
    Pearson's r of each resample.

    :param weights: (R, n), how often each response counts.
    :param a: (R, n) numbers.
    :param b: (R, n) numbers.
    :return: R values; NaN where the drawn values of ``a`` or ``b`` are constant.
    """
    import numpy as np

    total = weights.sum(axis=1, keepdims=True)
    centred, constant = [], np.zeros(len(weights), dtype=bool)
    for values in (a, b):
        # Rounding can make the mean of equal numbers differ from that number.
        high = np.where(weights > 0, values, -np.inf).max(axis=1)
        low = np.where(weights > 0, values, np.inf).min(axis=1)
        constant |= high == low
        centred.append(values - (weights * values).sum(axis=1, keepdims=True) / total)
    one, other = centred
    squares = [(weights * v * v).sum(axis=1) for v in centred]
    lengths = np.sqrt(squares[0] * squares[1])
    lengths[constant] = 0.0
    return ratio((weights * one * other).sum(axis=1), lengths, np.nan)
