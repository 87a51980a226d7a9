"""
The area under the ROC curve.
"""

from collections.abc import Sequence

from parlai_q2.evaluate import ranking


def roc_auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """
    The probability that a positive example scores above a negative one; a tie counts
    half.

    :param positive: scores of the positive examples, at least one.
    :param negative: scores of the negative examples, at least one.
    :return: in [0, 1]; 0.5 is chance (Hanley and McNeil 1982).
    :raises ValueError: when a class has no examples.
    """
    import numpy as np

    if not len(positive) or not len(negative):
        raise ValueError('AUC needs at least one example of each class.')
    scores = np.array([*positive, *negative], dtype=float)
    is_positive = np.arange(len(scores)) < len(positive)
    counts = ranking.Sweep(scores, is_positive).counts(np.ones((1, len(scores))))
    return float(ranking.roc_auc(*counts)[0])
