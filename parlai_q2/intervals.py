"""
Bootstrap confidence intervals for any statistic of a set of responses: seeded
percentile intervals (Efron and Tibshirani 1993, chapter 13).

Responses to the same passage of knowledge are correlated, and drawing them one by one
would make the intervals too narrow, so whole groups can be drawn (the cluster
bootstrap, Field and Welsh 2007). A resample is represented by weights, the number of
times each response was drawn: one vectorised function computes the statistic of all.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.decimals import fixed, percent

if TYPE_CHECKING:
    import numpy as np

    # Maps weights (R, n) to statistics (R, M), NaN where a statistic is undefined.
    Statistic = Callable[[np.ndarray], np.ndarray]

ROUNDS = 1000
SEED = 0
LEVEL = 0.95
# The most weights held in memory at once; larger jobs are done in several blocks.
BLOCK = 2_000_000


# The normal quantile of a 95 % interval.
Z = 1.96


class Interval(NamedTuple):
    """A statistic and its confidence interval."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        mean, low, high = (fixed(value, 3) for value in self)
        return f'{mean} [{low}, {high}]'

    @property
    def in_percent(self) -> str:
        """Of a share: ``80.0 % [49.0, 94.3]``."""
        low, high = fixed(100 * self.low, 1), fixed(100 * self.high, 1)
        return f'{percent(self.mean)} [{low}, {high}]'


def mean_interval(
    values: 'Sequence[float] | np.ndarray',
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
) -> Interval:
    """
    The mean of at least one value with its 95 % bootstrap interval; ``groups`` as for
    :func:`intervals`.

    :raises ValueError: if there are no values.

    >>> print(mean_interval([0.0, 0.5, 1.0, 1.0]))
    0.625 [0.250, 1.000]
    """
    import numpy as np

    if not len(values):
        raise ValueError('There is no mean of no values.')
    array = np.asarray(values, dtype=float)
    (interval,) = intervals(
        lambda weights: (weights @ array / weights.sum(axis=1))[:, None],
        len(array),
        rounds,
        seed,
        groups,
    )
    assert interval is not None
    return interval


def share_interval(count: int, total: int, size: float | None = None) -> Interval:
    """
    A share with its 95 % interval (Wilson 1927), within [0, 1].

    :param size: how many independent responses tell as much; by default ``total``.
    :raises ValueError: if ``total`` is 0.

    >>> print(share_interval(8, 10))
    0.800 [0.490, 0.943]
    """
    if not total:
        raise ValueError('There is no share of nothing.')
    share, squared, size = count / total, Z * Z, size or total
    middle = (share + squared / (2 * size)) / (1 + squared / size)
    spread = share * (1 - share) / size + squared / (4 * size * size)
    half = Z * math.sqrt(spread) / (1 + squared / size)
    low, high = min(middle - half, share), max(middle + half, share)
    return Interval(share, max(0.0, low), min(1.0, high))


def grouped_share(
    hits: 'Sequence[int] | np.ndarray', groups: 'Sequence[int] | np.ndarray'
) -> Interval:
    """
    The share of hits among at least one response, with its 95 % interval. Responses in
    one group are correlated, so Wilson's formula gets the size of the sample divided by
    the design effect (Kish 1965; Korn and Graubard 1998): by how much the variance of
    the share is larger when whole groups are drawn. At a share of 0 or 1, which has no
    variance, the size is the number of groups.

    :param groups: the number of each response's group. One group for all counts each
        response on its own.

    >>> print(grouped_share([True] * 8 + [False] * 2, range(10)))
    0.800 [0.490, 0.943]
    >>> print(grouped_share([True] * 8 + [False] * 2, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]))
    0.800 [0.355, 0.967]
    """
    import numpy as np

    _, of_each = np.unique(np.asarray(groups), return_inverse=True)
    sizes = np.bincount(of_each)
    counts = np.bincount(of_each, np.asarray(hits, float))
    count, total, size = round(counts.sum()), len(of_each), len(sizes)
    if size == 1 or size == total:
        return share_interval(count, total)
    if not 0 < count < total:
        return share_interval(count, total, size)
    share = count / total
    # The variances of the share when responses, and when groups are drawn.
    alone = share * (1 - share) / (total - 1)
    excess = ((counts - share * sizes) ** 2).sum() / total**2
    grouped = excess * size / (size - 1)
    return share_interval(count, total, total * alone / max(alone, grouped))


def intervals(
    statistic: 'Statistic',
    size: int,
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
) -> list[Interval | None]:
    """
    Statistics with their 95 % intervals, all computed from the same resamples.

    :param statistic: maps weights of shape (R, n) to statistics of shape (R, M).
    :param size: n, the number of responses.
    :param groups: n group names; responses in one group are drawn together. None, or
        one group for all, draws each response on its own.
    :return: M intervals; None for a statistic that is undefined on the whole set, and
        for each if the set is empty. Resamples in which it is undefined are left out.
    """
    import numpy as np

    whole = statistic(np.ones((1, size)))[0]
    if not size:
        return [None for _ in whole]
    if groups is None or len(set(groups)) == 1:
        groups = range(size)
    drawn = resamples(groups, rounds, seed)
    resampled = np.concatenate([statistic(weights) for weights in drawn])
    return [
        percentiles(float(value), resampled[:, i]) if np.isfinite(value) else None
        for i, value in enumerate(whole)
    ]


def resamples(
    groups: Sequence[Hashable], rounds: int, seed: int
) -> 'Iterator[np.ndarray]':
    """
    Draw resamples: how often each of n responses occurs in each; responses in one group
    are drawn together.

    :param groups: n group names.
    :return: blocks of weights [r, n], whose r add up to ``rounds``.
    """
    import numpy as np

    numbers: dict[Hashable, int] = {}
    of_each = np.array([numbers.setdefault(name, len(numbers)) for name in groups])
    size = len(numbers)
    rng = np.random.default_rng(seed)
    block = max(1, BLOCK // len(of_each))
    for start in range(0, rounds, block):
        count = min(block, rounds - start)
        chosen = rng.integers(0, size, (count, size)) + size * np.arange(count)[:, None]
        weights = np.bincount(chosen.ravel(), minlength=count * size)
        yield weights.reshape(count, size).astype(float)[:, of_each]


def percentiles(value: float, samples: 'np.ndarray') -> Interval:
    """
    A statistic with the middle 95 % of its values in resamples, where NaN is ignored.
    """
    import numpy as np

    samples = samples[np.isfinite(samples)]
    if not len(samples):
        return Interval(value, value, value)
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def ratio(above: 'np.ndarray', below: 'np.ndarray', empty: float) -> 'np.ndarray':
    """The quotient ``above / below``, or ``empty`` where ``below`` is 0."""
    import numpy as np

    quotient: np.ndarray = np.divide(
        above, below, out=np.full(above.shape, empty), where=below != 0
    )
    return quotient
