"""
Precision, recall and F1 of both classes, and accuracy, at a fixed threshold.

As in Honovich et al. 2021, section 5.1, a response is predicted inconsistent when its
score is at most a threshold, which is 0.5 in the paper. The threshold is the scorer's
own and is not fitted. A class that is never predicted has precision and F1 of 0, as in
scikit-learn; a class that no response has leaves all three figures undefined.
"""

from typing import TYPE_CHECKING

from parlai_q2.bootstrap import ratio

if TYPE_CHECKING:
    import numpy as np

# In the order of the columns that threshold_figures returns.
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
    Compute the figures for R resamples at once.

    :param weights: (R, n), how often each response counts.
    :param scores: n scores.
    :param consistent: n booleans, whether the annotators found a response consistent.
    :param at: a score of at most this is inconsistent.
    :return: (R, 7), in the order of :data:`FIGURES`; the figures of a class are NaN in
        a resample without annotated responses of that class.
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
