"""
The area under the ROC curve.
"""

from collections.abc import Sequence


def roc_auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """
    The chance that a positive example scores above a negative one; ties count half.

    :param positive: scores of the positive examples, at least one.
    :param negative: scores of the negative examples, at least one.
    :return: in [0, 1]; 0.5 is chance (Hanley and McNeil 1982).
    :raises ValueError: when there are none of a class.
    """
    if not positive or not negative:
        raise ValueError('AUC needs at least one example of each class.')
    ordered = sorted([(s, 0) for s in negative] + [(s, 1) for s in positive])
    rank_sum, start = 0.0, 0
    while start < len(ordered):
        end = start
        while end < len(ordered) and ordered[end][0] == ordered[start][0]:
            end += 1
        # Equal scores share the mean of their ranks, which count from 1.
        mean_rank = (start + 1 + end) / 2
        rank_sum += mean_rank * sum(label for _, label in ordered[start:end])
        start = end
    n, m = len(positive), len(negative)
    return (rank_sum - n * (n + 1) / 2) / (n * m)
