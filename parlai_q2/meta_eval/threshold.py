"""
Precision, recall and F1 of both classes, and accuracy, at a fixed threshold.

Honovich et al. 2021, section 5.1: a response is called inconsistent when its score is
at most a threshold, which is 0.5 there. It is the scorer's own, given here and not
fitted. Where nothing is called by a class's name its precision and F1 are 0, as in
scikit-learn; of a class that no response has, nothing is defined.
"""

from typing import TYPE_CHECKING

from parlai_q2.bootstrap import ratio

if TYPE_CHECKING:
    import numpy as np

# The order of the figures.
FIGURES = (
    'consistent_precision',
    'consistent_recall',
    'consistent_f1',
    'inconsistent_precision',
    'inconsistent_recall',
    'inconsistent_f1',
    'accuracy',
)


def threshold_figures(
    weights: 'np.ndarray', scores: 'np.ndarray', consistent: 'np.ndarray', at: float
) -> 'np.ndarray':
    """
    The figures of several resamples.

    :param weights: (R, n), how often each response counts.
    :param scores: n scores.
    :param consistent: n booleans, what people said.
    :param at: a score of at most this is inconsistent.
    :return: (R, 7), in the order of :data:`FIGURES`; those of a class are NaN where
        people called no response so.
    """
    import numpy as np

    called = scores > at
    right = (weights @ (consistent & called), weights @ ~(consistent | called))
    given, total = weights @ consistent, weights.sum(axis=1)
    said = weights @ called
    columns = []
    for hits, truth, prediction in (
        (right[0], given, said),
        (right[1], total - given, total - said),
    ):
        recall = ratio(hits, truth, np.nan)
        f1 = ratio(2 * hits, prediction + truth, 0.0)
        precision = ratio(hits, prediction, 0.0)
        absent = np.isnan(recall)
        columns += [
            np.where(absent, np.nan, precision),
            recall,
            np.where(absent, np.nan, f1),
        ]
    columns.append(ratio(right[0] + right[1], total, np.nan))
    return np.stack(columns, axis=1)
