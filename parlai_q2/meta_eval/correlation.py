"""
How scores go with people's ratings: Spearman and Pearson, with bootstrap intervals.

Honovich et al. 2021, section 5.3 (Topical-Chat, Table 5).
"""

from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval
from parlai_q2.meta_eval.resampling import percentiles

if TYPE_CHECKING:
    import numpy as np


class Correlation(NamedTuple):
    """
    Both coefficients, each in [-1, 1], and how many responses they rest on.
    """

    spearman: Optional[Interval]
    pearson: Optional[Interval]
    responses: int


def correlation(
    scores: Sequence[float],
    ratings: Sequence[float],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Correlation:
    """
    Compare scores with ratings.

    :param scores: n scores.
    :param ratings: n ratings on any scale.
    :param rounds: resamples of responses.
    :param seed: of the resampling.
    :return: both coefficients; None where they are not defined: fewer than two
        responses, or scores or ratings that are all equal.
    """
    import numpy as np
    from scipy.stats import rankdata

    x, y = np.asarray(scores, float), np.asarray(ratings, float)
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(None, None, len(x))
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(x), (rounds, len(x)))
    found = []
    for a, b in (
        # Ranks are taken anew in each resample, as scipy does on each.
        (rankdata(x[drawn], axis=1), rankdata(y[drawn], axis=1)),
        (x[drawn], y[drawn]),
    ):
        found.append(_pearson(a, b))
    spearman = float(_pearson(rankdata(x)[None], rankdata(y)[None])[0])
    pearson = float(_pearson(x[None], y[None])[0])
    return Correlation(
        percentiles(spearman, found[0]), percentiles(pearson, found[1]), len(x)
    )


def _pearson(a: 'np.ndarray', b: 'np.ndarray') -> 'np.ndarray':
    """
    Pearson's r of each row; NaN where a row is constant.
    """
    import numpy as np

    from parlai_q2.meta_eval.resampling import ratio

    # The mean of equal numbers need not be that number, to the last digit.
    constant = (np.ptp(a, axis=1) == 0) | (np.ptp(b, axis=1) == 0)
    a = a - a.mean(axis=1, keepdims=True)
    b = b - b.mean(axis=1, keepdims=True)
    lengths = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    lengths[constant] = 0.0
    return ratio((a * b).sum(axis=1), lengths, np.nan)
