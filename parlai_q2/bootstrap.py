"""
Bootstrap confidence intervals: how far any figure of a set of responses can be trusted.

Percentile intervals (Efron and Tibshirani 1993, chapter 13), seeded. What is drawn with
repetition, as many as there are, is a response alone, or a passage of knowledge with
all its responses: those of one passage stand and fall together, and drawn one by one
they would make intervals that are too narrow (the cluster bootstrap, Field and Welsh
2007). A resample is given as weights (how often each response was drawn), so that one
piece of arithmetic yields the figure itself, with all weights 1, and all its resamples
at once.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Optional

if TYPE_CHECKING:
    import numpy as np

    # From weights (R, n) to figures (R, M), NaN where a figure is not defined.
    Statistic = Callable[[np.ndarray], np.ndarray]

ROUNDS = 1000
SEED = 0
LEVEL = 0.95
# Weights held at once; more rounds are done in several blocks.
BLOCK = 2_000_000


class Interval(NamedTuple):
    """
    A figure and its confidence interval.
    """

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f'{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]'


def mean_interval(
    values: 'Sequence[float] | np.ndarray',
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Optional[Sequence[Hashable]] = None,
) -> Interval:
    """
    The mean of values with its 95 % bootstrap interval.

    :param values: one an example, at least one.
    :param rounds: resamples with repetition, each as large as the whole.
    :param seed: of the resampling; the same seed gives the same interval.
    :param groups: as :func:`intervals` takes them.
    :raises ValueError: when there are no values.

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


def intervals(
    statistic: 'Statistic',
    size: int,
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Optional[Sequence[Hashable]] = None,
) -> list[Optional[Interval]]:
    """
    Figures with their 95 % intervals; all of them from the same resamples.

    :param statistic: takes weights of shape (R, n) and gives R rows of M figures.
    :param size: n, how many responses there are.
    :param rounds: resamples.
    :param seed: of the resampling.
    :param groups: which responses are drawn together, n names; None draws each alone.
    :return: M intervals; None for a figure that is not defined on the whole set, and
        for all of an empty set. Resamples in which a figure is not defined are left out
        of its interval.
    """
    import numpy as np

    whole = statistic(np.ones((1, size)))[0]
    if not size:
        return [None for _ in whole]
    drawn = resamples(range(size) if groups is None else groups, rounds, seed)
    resampled = np.concatenate([statistic(weights) for weights in drawn])
    return [
        percentiles(float(value), resampled[:, i]) if np.isfinite(value) else None
        for i, value in enumerate(whole)
    ]


def resamples(
    groups: Sequence[Hashable], rounds: int, seed: int
) -> 'Iterator[np.ndarray]':
    """
    How often each response is drawn.

    :param groups: which responses are drawn together, n names.
    :param rounds: R, how many resamples.
    :param seed: of the resampling.
    :return: weights (r, n), in blocks that make up the R.
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
    A value with the middle 95 % of its resamples.

    :param value: the figure.
    :param samples: the figure in each resample; NaN is left out.
    """
    import numpy as np

    samples = samples[np.isfinite(samples)]
    if not len(samples):
        return Interval(value, value, value)
    low, high = np.quantile(samples, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def ratio(above: 'np.ndarray', below: 'np.ndarray', empty: float) -> 'np.ndarray':
    """
    A quotient, with ``empty`` where the denominator is 0.
    """
    import numpy as np

    return np.divide(above, below, out=np.full(above.shape, empty), where=below != 0)
