"""
What is computed of scores and human annotations, for many resamples at once: ROC-AUC,
average precision, precision and recall at a threshold, F1 of three classes,
correlation.
"""

from typing import TYPE_CHECKING, Hashable, NamedTuple, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, intervals, ratio
from parlai_q2.evaluate.sets import CLASSES
from parlai_q2.records import UNVERIFIABLE, Label, Score
from parlai_q2.scorers.base import label_of
from parlai_q2.text.class_map import CONTRADICTION, ENTAILMENT, FINDINGS, has_findings

if TYPE_CHECKING:
    import numpy as np


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

    def curve(self) -> tuple['np.ndarray', 'np.ndarray']:
        """Recall and precision at K thresholds of a set that has positives."""
        import numpy as np

        found, alarms = (c[0] for c in self.counts(np.ones((1, len(self.order)))))
        return found / found[-1], found / (found + alarms)


def area_under_roc(found: 'np.ndarray', alarms: 'np.ndarray') -> 'np.ndarray':
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
    counts = Sweep(scores, is_positive).counts(np.ones((1, len(scores))))
    return float(area_under_roc(*counts)[0])


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


# In the order of the columns that macro_figures returns.
MACRO = (*CLASSES, 'macro_precision', 'macro_recall', 'macro')


def predicted_class(score: Score, threshold: float) -> str:
    """
    The class that a score predicts, one of the three.

    :param score: a score with its label.
    :param threshold: a score of at most this predicts ``inconsistent``.
    """
    if score.label in UNVERIFIABLE:
        return Label.GENERIC
    return label_of(score.value, threshold)


def nli_class(score: Score) -> Optional[str]:
    """
    The class that BEGIN's paper gives to the likeliest class of an NLI model: neutral
    means generic. None for a score without class probabilities.
    """
    if not has_findings(score):
        return None
    found = max(FINDINGS, key=lambda finding: score.parts[finding])
    named = {ENTAILMENT: Label.CONSISTENT, CONTRADICTION: Label.INCONSISTENT}
    return named.get(found, Label.GENERIC)


def macro_figures(
    weights: 'np.ndarray', truth: Sequence[str], predicted: Sequence[str]
) -> 'np.ndarray':
    """
    The F1 of each class, and the means of precision, recall and F1.

    :param weights: (R, n), how often each response counts.
    :param truth: n classes, from the annotators.
    :param predicted: n classes, from the scorer.
    :return: (R, 6), in the order of :data:`MACRO`.
    """
    import numpy as np

    figures = []
    for name in CLASSES:
        given = np.array([t == name for t in truth], dtype=bool)
        called = np.array([p == name for p in predicted], dtype=bool)
        right = weights @ (given & called)
        there, said = weights @ given, weights @ called
        figures.append(
            (
                ratio(right, said, 0.0),
                ratio(right, there, 0.0),
                ratio(2 * right, there + said, 0.0),
            )
        )
    by_class = np.array(figures)  # (3 classes, 3 figures, R)
    return np.concatenate([by_class[:, 2], by_class.mean(axis=0)]).T


class Correlation(NamedTuple):
    """
    Both coefficients, each in [-1, 1], the number of responses behind them, and the
    two-sided p of no correlation; None where it is undefined.
    """

    spearman: Optional[Interval]
    pearson: Optional[Interval]
    responses: int
    spearman_p: Optional[float] = None
    pearson_p: Optional[float] = None


def correlation(
    scores: Sequence[float],
    ratings: Sequence[float],
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Optional[Sequence[Hashable]] = None,
) -> Correlation:
    """
    Correlate scores with ratings.

    :param scores: n scores.
    :param ratings: n ratings on any scale.
    :param groups: n group names; responses of one group are drawn together. None draws
        each response alone.
    :return: both coefficients, each None where it is undefined: for fewer than two
        responses, or where all scores or all ratings are equal.
    """
    import numpy as np

    x, y = np.asarray(scores, float), np.asarray(ratings, float)
    if not len(x):
        return Correlation(None, None, 0)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        # Ranks are computed anew in each resample, as calling scipy on it would.
        ranked = pearson(weights, ranks(weights, x), ranks(weights, y))
        shape = weights.shape
        plain = pearson(weights, np.broadcast_to(x, shape), np.broadcast_to(y, shape))
        return np.stack([ranked, plain], axis=1)

    spearman, linear = intervals(statistic, len(x), rounds, seed, groups)
    if spearman is None or linear is None or len(x) < 3:
        return Correlation(spearman, linear, len(x))
    from scipy.stats import pearsonr, spearmanr

    p = float(spearmanr(x, y).pvalue), float(pearsonr(x, y).pvalue)
    return Correlation(spearman, linear, len(x), *p)


def ranks(weights: 'np.ndarray', values: 'np.ndarray') -> 'np.ndarray':
    """
    The rank of each response within each resample; ties share their mean rank.

    :param weights: (R, n), how often each response counts.
    :param values: n numbers.
    :return: (R, n). A response that was not drawn has a rank too, with no weight.
    """
    import numpy as np

    _, place = np.unique(values, return_inverse=True)
    of_value = np.zeros((len(weights), place.max() + 1))
    np.add.at(of_value.T, place, weights.T)
    before = np.cumsum(of_value, axis=1) - of_value
    return (before + (of_value + 1) / 2)[:, place]


def pearson(weights: 'np.ndarray', a: 'np.ndarray', b: 'np.ndarray') -> 'np.ndarray':
    """
    Pearson's r of each resample.

    :param weights: (R, n), how often each response counts.
    :param a: (R, n) numbers.
    :param b: (R, n) numbers.
    :return: R values; NaN where the drawn values of ``a`` or ``b`` are constant.
    """
    import numpy as np

    total = weights.sum(axis=1, keepdims=True)
    centred, constant = [], np.zeros(len(weights), dtype=bool)
    for values in (a, b):
        # Rounding can make the mean of equal numbers differ from that number.
        high = np.where(weights > 0, values, -np.inf).max(axis=1)
        low = np.where(weights > 0, values, np.inf).min(axis=1)
        constant |= high == low
        centred.append(values - (weights * values).sum(axis=1, keepdims=True) / total)
    one, other = centred
    squares = [(weights * v * v).sum(axis=1) for v in centred]
    lengths = np.sqrt(squares[0] * squares[1])
    lengths[constant] = 0.0
    return ratio((weights * one * other).sum(axis=1), lengths, np.nan)
