"""
Measures how well scores rank consistent responses above inconsistent ones, over all
thresholds: ROC-AUC (Hanley and McNeil 1982), average precision, and both curves.

Average precision is defined as in scikit-learn: the sum of precision times the step in
recall, without interpolation. Equal scores share one threshold.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from parlai_q2.bootstrap import ratio

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Curves:
    """
    Both curves of one scorer, at K thresholds from strict to lenient.

    :param thresholds: a response that scores at least this is predicted positive.
    :param recall: the share of positives predicted positive (true positive rate).
    :param fallout: the share of negatives predicted positive (false positive rate).
    :param precision: the share of predicted positives that are positive.
    """

    thresholds: 'np.ndarray'
    recall: 'np.ndarray'
    fallout: 'np.ndarray'
    precision: 'np.ndarray'


class Sweep:
    """
    Counts the responses found, that is predicted positive, at each threshold.

    :param scores: n scores; a higher score speaks for a positive response.
    :param positive: n booleans, whether each response is positive.
    """

    def __init__(self, scores: 'np.ndarray', positive: 'np.ndarray'):
        import numpy as np

        self.order = np.argsort(-scores, kind='stable')
        ordered = scores[self.order]
        # The last response of each run of equal scores, one for each of K thresholds.
        self.ends = np.flatnonzero(np.r_[ordered[1:] != ordered[:-1], len(scores) > 0])
        self.thresholds = ordered[self.ends]
        self.positive = np.asarray(positive, dtype=float)[self.order]

    def counts(self, weights: 'np.ndarray') -> tuple['np.ndarray', 'np.ndarray']:
        """
        Positive and negative responses found at each threshold.

        :param weights: (R, n), how often each response counts.
        :return: two arrays of shape (R, K).
        """
        import numpy as np

        ordered = weights[:, self.order]
        found = np.cumsum(ordered * self.positive, axis=1)[:, self.ends]
        alarms = np.cumsum(ordered * (1 - self.positive), axis=1)[:, self.ends]
        return found, alarms

    def curves(self) -> Curves:
        """
        The precision-recall and ROC curves of the whole set, which must have both
        classes.
        """
        import numpy as np

        found, alarms = (c[0] for c in self.counts(np.ones((1, len(self.order)))))
        return Curves(
            self.thresholds,
            recall=found / found[-1],
            fallout=alarms / alarms[-1],
            precision=found / (found + alarms),
        )


def roc_auc(found: 'np.ndarray', alarms: 'np.ndarray') -> 'np.ndarray':
    """
    The probability that a positive response scores above a negative one; a tie counts
    half.

    :param found: (R, K), positive responses found at each threshold.
    :param alarms: (R, K), negative responses found at each threshold.
    :return: R values; NaN where a class is missing.
    """
    import numpy as np

    if not found.shape[1]:
        return np.full(len(found), np.nan)
    before = np.pad(found, ((0, 0), (1, 0)))[:, :-1]
    steps = np.diff(alarms, axis=1, prepend=0)
    area = (steps * (found + before) / 2).sum(axis=1)
    return ratio(area, found[:, -1] * alarms[:, -1], np.nan)


def average_precision(found: 'np.ndarray', alarms: 'np.ndarray') -> 'np.ndarray':
    """
    Precision, averaged over the steps in recall.

    :param found: (R, K), positive responses found at each threshold.
    :param alarms: (R, K), negative responses found at each threshold.
    :return: R values; NaN where a class is missing.
    """
    import numpy as np

    if not found.shape[1]:
        return np.full(len(found), np.nan)
    steps = np.diff(found, axis=1, prepend=0)
    area = (steps * ratio(found, found + alarms, 0.0)).sum(axis=1)
    defined = np.where(alarms[:, -1] > 0, found[:, -1], 0.0)
    return ratio(area, defined, np.nan)
