"""
Bootstrap intervals of any figure of a set of responses.

Percentile intervals (Efron and Tibshirani 1993, chapter 13). What is drawn with
repetition, as many as there are, is a passage of knowledge with all its responses:
those of one passage stand and fall together, and drawn one by one they would make
intervals that are too narrow (the cluster bootstrap, Field and Welsh 2007). A resample
is given as weights (how often each response was drawn), so that one piece of arithmetic
yields the figure itself, with all weights 1, and all its resamples at once.
"""

from typing import TYPE_CHECKING, Callable, Hashable, Iterator, Optional, Sequence

from parlai_q2.bootstrap import LEVEL, ROUNDS, SEED, Interval

if TYPE_CHECKING:
    import numpy as np

    # From weights (R, n) to figures (R, M), NaN where a figure is not defined.
    Statistic = Callable[[np.ndarray], np.ndarray]

# Weights held at once; more rounds are done in several blocks.
BLOCK = 2_000_000


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
