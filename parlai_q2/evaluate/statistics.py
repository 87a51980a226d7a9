"""
Statistics of scores and human annotations, for many resamples at once: ROC-AUC, average
precision, precision and recall at a threshold, F1 of three classes, correlation.
"""

import math
from collections.abc import Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from parlai_q2.claims import UNVERIFIABLE, Label, Score
from parlai_q2.evaluate.sets import BINARY, CLASSES
from parlai_q2.intervals import ROUNDS, SEED, Interval, intervals, ratio
from parlai_q2.scorers.base import label_of
from parlai_q2.text.class_map import Finding, has_findings

if TYPE_CHECKING:
    import numpy as np


# In the order of the columns that threshold_metrics returns.
CLASS_METRICS = (
    *('_'.join(names) for names in product(BINARY, ('precision', 'recall', 'f1'))),
    'accuracy',
)


def class_metrics(
    weights: 'np.ndarray', truth: 'np.ndarray', called: 'np.ndarray'
) -> 'np.ndarray':
    """
    Precision, recall and F1 of one class.

    :param weights: (R, n), how often each response counts.
    :param truth: n booleans, whether the annotators gave it to a response.
    :param called: n booleans, whether the scorer did.
    :return: (3, R); 0 where there is nothing to divide by.
    """
    import numpy as np

    right, actual, predicted = (weights @ c for c in (truth & called, truth, called))
    precision, recall = ratio(right, predicted, 0.0), ratio(right, actual, 0.0)
    return np.stack([precision, recall, ratio(2 * right, actual + predicted, 0.0)])


def threshold_metrics(
    weights: 'np.ndarray', scores: 'np.ndarray', consistent: 'np.ndarray', at: float
) -> 'np.ndarray':
    """
    :data:`CLASS_METRICS` of R resamples.

    :param weights: (R, n), how often each response counts.
    :param scores: n scores; one of at most ``at`` is inconsistent.
    :param consistent: n booleans, whether the annotators found a response consistent.
    :return: (R, 7); the metrics of a class are NaN in a resample without annotated
        responses of that class.
    """
    import numpy as np

    called = scores > at
    columns = []
    for truth, predicted in ((consistent, called), (~consistent, ~called)):
        metrics = class_metrics(weights, truth, predicted)
        columns += [*np.where(weights @ truth > 0, metrics, np.nan)]
    right, total = weights @ (consistent == called), weights.sum(axis=1)
    return np.stack([*columns, ratio(right, total, np.nan)], axis=1)


# In the order of the columns that macro_metrics returns.
MACRO = (*CLASSES, 'macro_precision', 'macro_recall', 'macro')


def predicted_class(score: Score, threshold: float) -> str:
    """
    The class that a score predicts, one of the three; a value of at most the threshold
    predicts ``inconsistent``.
    """
    if score.label in UNVERIFIABLE:
        return Label.GENERIC
    return label_of(score.value, threshold)


def nli_class(score: Score) -> str | None:
    """
    The class that BEGIN's paper gives to the likeliest class of an NLI model: neutral
    means generic. None for a score without class probabilities.
    """
    if not has_findings(score):
        return None
    likeliest = max(Finding, key=lambda finding: score.parts[finding])
    named = {
        Finding.ENTAILMENT: Label.CONSISTENT,
        Finding.CONTRADICTION: Label.INCONSISTENT,
    }
    return named.get(likeliest, Label.GENERIC)


def macro_metrics(
    weights: 'np.ndarray', truth: Sequence[str], predicted: Sequence[str]
) -> 'np.ndarray':
    """
    :data:`MACRO`, (R, 6), of R resamples.

    :param weights: (R, n), how often each response counts.
    :param truth: n classes, from the annotators.
    :param predicted: n classes, from the scorer.
    """
    import numpy as np

    true_classes, predicted_classes = np.array(truth), np.array(predicted)
    metrics = [
        class_metrics(weights, true_classes == c, predicted_classes == c)
        for c in CLASSES
    ]
    by_class = np.array(metrics)  # (3 classes, 3 metrics, R)
    return np.concatenate([by_class[:, 2], by_class.mean(axis=0)]).T


class Correlation(NamedTuple):
    """
    Both coefficients, each in [-1, 1], the number of responses behind them, and the
    two-sided p of no correlation; None where it is undefined.
    """

    spearman: Interval | None
    pearson: Interval | None
    responses: int
    spearman_p: float | None = None
    pearson_p: float | None = None


def correlation(
    scores: Sequence[float],
    ratings: Sequence[float],
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
) -> Correlation:
    """
    Correlate n scores with n ratings on any scale.

    :param groups: as for :func:`parlai_q2.intervals.intervals`.
    :return: both coefficients, each None where it is undefined: for fewer than two
        responses, or where all scores or all ratings are equal.
    """
    import numpy as np
    from scipy.stats import pearsonr, rankdata, spearmanr

    x, y = np.asarray(scores, float), np.asarray(ratings, float)
    if not len(x):
        return Correlation(None, None, 0)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        coefficients = []
        for times in weights.astype(int):
            a, b = x.repeat(times), y.repeat(times)
            coefficients.append([pearson(rankdata(a), rankdata(b)), pearson(a, b)])
        return np.array(coefficients)

    spearman, linear = intervals(statistic, len(x), rounds, seed, groups)
    if spearman is None or linear is None or len(x) < 3:
        return Correlation(spearman, linear, len(x))
    p = float(spearmanr(x, y).pvalue), float(pearsonr(x, y).pvalue)
    return Correlation(spearman, linear, len(x), *p)


def pearson(a: 'np.ndarray', b: 'np.ndarray') -> float:
    """Pearson's r of n numbers each, at least one; NaN where one side is constant."""
    # Rounding can make the mean of equal numbers differ from that number.
    if a.min() == a.max() or b.min() == b.max():
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))
