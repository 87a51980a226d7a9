"""
Ranking by a score: the number of positive and negative responses above each threshold,
and the areas under the resulting curves.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from parlai_q2.intervals import ratio

if TYPE_CHECKING:
    import numpy as np


class Sweep:
    """
    Counts the responses that are predicted positive at each threshold.

    :param scores: n scores; a higher score speaks for a positive response.
    :param positive: n booleans, whether each response is positive.
    """

    def __init__(self, scores: 'np.ndarray', positive: 'np.ndarray'):
        import numpy as np

        self.order = np.argsort(-scores, kind='stable')
        ordered = scores[self.order]
        # The last response of each run of equal scores, one for each of K thresholds.
        self.ends = np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], len(scores) > 0])
        self.positive = np.asarray(positive, dtype=float)[self.order]

    def counts(self, weights: 'np.ndarray') -> tuple['np.ndarray', 'np.ndarray']:
        """
        Positive and negative responses above each threshold, both (R, K), for weights
        (R, n).
        """
        import numpy as np

        ordered = weights[:, self.order]
        hits = np.cumsum(ordered * self.positive, axis=1)[:, self.ends]
        alarms = np.cumsum(ordered * (1 - self.positive), axis=1)[:, self.ends]
        return hits, alarms

    def areas(self, weights: 'np.ndarray') -> tuple['np.ndarray', 'np.ndarray']:
        """
        The areas under the ROC curve and under the precision-recall curve.

        :param weights: (R, n), how often each response counts.
        :return: the probability that a positive response scores above a negative one,
            where a tie counts half; and precision, averaged over the steps in recall.
            R values each, NaN where a class is missing.
        """
        import numpy as np

        hits, alarms = self.counts(weights)
        if not hits.shape[1]:
            return np.full(len(hits), np.nan), np.full(len(hits), np.nan)
        before = np.pad(hits, ((0, 0), (1, 0)))[:, :-1]
        rise = np.diff(hits, axis=1, prepend=0)
        steps = np.diff(alarms, axis=1, prepend=0)
        roc = (steps * (hits + before) / 2).sum(axis=1)
        precision = (rise * ratio(hits, hits + alarms, 0.0)).sum(axis=1)
        positive, negative = hits[:, -1], alarms[:, -1]
        return (
            ratio(roc, positive * negative, np.nan),
            ratio(precision, np.where(negative > 0, positive, 0.0), np.nan),
        )


def roc_auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """
    The probability that a positive example scores above a negative one; a tie counts
    half, and 0.5 is chance (Hanley and McNeil 1982).

    :raises ValueError: when a class has no examples.
    """
    import numpy as np

    if not len(positive) or not len(negative):
        raise ValueError('AUC needs at least one example of each class.')
    scores = np.array([*positive, *negative], dtype=float)
    is_positive = np.arange(len(scores)) < len(positive)
    return float(Sweep(scores, is_positive).areas(np.ones((1, len(scores))))[0][0])
