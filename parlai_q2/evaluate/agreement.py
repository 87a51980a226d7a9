"""
Agreement of annotators: Fleiss' kappa (Fleiss 1971), which Honovich et al. 2021 report,
and Krippendorff's alpha (Krippendorff 2011), which Santhanam et al. 2021 and Dziri et
al. 2022 report.
"""

from collections import Counter
from typing import Optional, Sequence

Ratings = Sequence[Sequence[float]]
NOMINAL, INTERVAL = 'nominal', 'interval'


def fleiss_kappa(ratings: Ratings) -> Optional[float]:
    """
    Agreement on categories beyond chance, 1 for full agreement.

    :param ratings: for each response, the categories that its annotators chose; all
        responses have the same number of annotators, at least two.
    :return: None without responses, where their numbers of annotators differ, or where
        only one category was ever chosen.
    """
    sizes = {len(given) for given in ratings}
    if len(sizes) != 1 or min(sizes) < 2:
        return None
    (size,) = sizes
    counts = [Counter(given) for given in ratings]
    pairs = [sum(n * (n - 1) for n in c.values()) / (size * (size - 1)) for c in counts]
    observed = sum(pairs) / len(pairs)
    total = sum(counts, Counter())
    chance = sum((n / (size * len(counts))) ** 2 for n in total.values())
    return (observed - chance) / (1 - chance) if chance < 1 else None


def krippendorff_alpha(ratings: Ratings, metric: str = INTERVAL) -> Optional[float]:
    """
    Agreement beyond chance, 1 for full agreement; annotators may be missing.

    :param ratings: for each response, its ratings; a response with one is left out.
    :param metric: ``interval``, the squared difference, or ``nominal``, any difference.
    :return: None where no response has two ratings, or all ratings are equal.
    """
    units = [given for given in ratings if len(given) > 1]
    values = Counter(value for given in units for value in given)
    count = sum(values.values())

    def distance(a: float, b: float) -> float:
        return float(a != b) if metric == NOMINAL else (a - b) ** 2

    observed = sum(
        distance(a, b) / (len(given) - 1)
        for given in units
        for a in given
        for b in given
    )
    chance = sum(
        distance(a, b) * n * m for a, n in values.items() for b, m in values.items()
    )
    if not chance:
        return None
    return 1 - observed * (count - 1) / chance
