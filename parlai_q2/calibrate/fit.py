"""
Fits a prior and a threshold to labelled pairs, with an interval for the threshold.

The values are shifted in log-odds, so that their mean is the share of consistent pairs
(maximum likelihood with the scorer's slope). For ``accuracy``, the threshold is where a
logistic regression of the labels gives both classes the same probability (Platt 1999):
the best one of a small sample is mostly luck. For ``recall=0.9`` and
``false_alarms=0.05``, it is the best of those that reach the share.

In a logistic regression, no weight is negative, since every feature of ``grounded``
speaks for a response; a ridge shrinks all but the intercept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import expit

from parlai_q2.claims import Score
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.intervals import ROUNDS, SEED, Interval, percentiles, resamples
from parlai_q2.json_values import JsonObject
from parlai_q2.options import Word
from parlai_q2.scorers.calibrated import shifted
from parlai_q2.sweep import Sweep, roc_auc
from parlai_q2.text.normalize import passage_key

FOLDS = 10
RIDGE = 0.003  # that of the shipped weights
LEAST = 5  # pairs of each class
FARTHEST = 30.0  # the largest shift of log-odds
# Of a logistic regression: the ridge on its slope, and how near to 0 and 1 a
# probability may be.
SLOPE_RIDGE, EDGE = 1e-3, 1e-6
FOLD_SEED = 0


class Aim(Word):
    """What a threshold aims at: the highest accuracy, or a share of one class."""

    ACCURACY = 'accuracy'
    RECALL = 'recall'
    FALSE_ALARMS = 'false_alarms'


class Target(NamedTuple):
    """What a threshold aims at, with the share for ``recall`` or ``false_alarms``."""

    kind: str
    share: float = 0.0

    def __str__(self) -> str:
        return self.kind if self.kind == Aim.ACCURACY else f'{self.kind}={self.share:g}'


def read_target(text: str) -> Target:
    """Read ``accuracy`` or ``recall=0.9``; any other text is a ConfigError."""
    kind, equals, number = text.partition('=')
    try:
        share = float(number) if equals else 0.0
    except ValueError:
        share = -1.0
    if (
        kind not in tuple(Aim)
        or bool(equals) == (kind == Aim.ACCURACY)
        or not 0 <= share <= 1
    ):
        raise ConfigError(
            'The target is accuracy, recall=SHARE or false_alarms=SHARE with a share '
            f'in [0, 1], not {text!r}.'
        )
    return Target(kind, share)


@dataclass(frozen=True)
class Pairs:
    """
    N labelled pairs: scores, whether annotators found each consistent, and passages.

    :param features: the features [N, F] to fit weights to; None keeps the scorer's.
    """

    values: np.ndarray
    consistent: np.ndarray
    passages: np.ndarray
    features: np.ndarray | None

    def only(self, chosen: np.ndarray) -> 'Pairs':
        """Select the pairs of a mask."""
        features = None if self.features is None else self.features[chosen]
        rest = self.values[chosen], self.consistent[chosen], self.passages[chosen]
        return Pairs(*rest, features)


def make_pairs(
    scores: Sequence[Score],
    consistent: Sequence[bool],
    knowledge: Sequence[str],
    features: Sequence[str] = (),
) -> Pairs:
    """Make labelled pairs; an InputError for fewer than :data:`LEAST` of a class."""
    labels = np.asarray(consistent, dtype=bool)
    counts = (int(labels.sum()), int((~labels).sum()))
    if min(counts) < LEAST:
        raise InputError(
            f'There are {counts[0]} consistent and {counts[1]} inconsistent pairs. A '
            f'threshold needs at least {LEAST} of each, and some 50 in all to mean '
            'anything.'
        )
    keys = np.array([passage_key(text) for text in knowledge])
    columns = [[score.parts[name] for score in scores] for name in features]
    return Pairs(
        np.array([score.value for score in scores], dtype=float),
        labels,
        keys,
        np.array(columns).T if features else None,
    )


class Fit(NamedTuple):
    """A fitted model: P(supported) = sigmoid(x . weights + intercept)."""

    weights: np.ndarray
    intercept: float

    def probability(self, x: np.ndarray) -> np.ndarray:
        """The probabilities [B] for features [B, F]."""
        probabilities: np.ndarray = expit(x @ self.weights + self.intercept)
        return probabilities


class FittedScores(NamedTuple):
    """
    The result of a fit.

    :param weights: weights and intercept under a prior of 0.5; None keeps the scorer's.
    :param shift: the shift of the log-odds; None if values are no probabilities.
    :param threshold: the threshold for the shifted values, in [0, 1].
    """

    weights: Fit | None
    shift: float | None
    threshold: float

    def values(self, pairs: Pairs) -> np.ndarray:
        """The calibrated values of pairs, [N]."""
        return moved(own_values(pairs, self.weights), self.shift)


def own_values(pairs: Pairs, weights: Fit | None) -> np.ndarray:
    """The values of pairs before they are shifted, [N]."""
    if weights is None:
        return pairs.values
    assert pairs.features is not None
    return weights.probability(pairs.features)


def fit_pairs(pairs: Pairs, target: Target, probabilities: bool) -> FittedScores:
    """Fit weights to features, if any, the shift of probabilities and a threshold."""
    weights = None
    if pairs.features is not None:
        truth = pairs.consistent
        # Both classes count the same.
        even = np.where(truth, 1 / truth.sum(), 1 / (~truth).sum())
        weights = fit(pairs.features, truth.astype(float), even, RIDGE)
    values = own_values(pairs, weights)
    shift = fit_shift(values, pairs.consistent) if probabilities else None
    values = moved(values, shift)
    whole = np.ones((1, len(values)))
    best = best_thresholds(whole, values, pairs.consistent, target, probabilities)[0]
    return FittedScores(weights, shift, float(best))


def bootstrap_threshold(
    pairs: Pairs, fitted: FittedScores, target: Target, probabilities: bool
) -> Interval:
    """The 95 % bootstrap interval of a threshold, from resampled passages."""
    values, best = fitted.values(pairs), fitted.threshold
    drawn = [
        best_thresholds(weights, values, pairs.consistent, target, probabilities)
        for weights in resamples(list(pairs.passages), ROUNDS, SEED)
    ]
    interval = percentiles(best, np.concatenate(drawn))
    return Interval(best, min(interval.low, best), max(interval.high, best))


def moved(values: np.ndarray, shift: float | None) -> np.ndarray:
    """Shift the log-odds of values."""
    return np.array([shifted(float(value), shift or 0.0) for value in values])


def fit_shift(values: np.ndarray, consistent: np.ndarray) -> float:
    """The shift of log-odds at which the values' mean is the consistent share."""
    share = float(consistent.mean())

    def excess(shift: float) -> float:
        return float(moved(values, shift).mean()) - share

    # Values of 0 and 1 cannot move, so the share may be out of reach.
    if excess(-FARTHEST) >= 0:
        return -FARTHEST
    if excess(FARTHEST) <= 0:
        return FARTHEST
    return float(brentq(excess, -FARTHEST, FARTHEST))


def best_thresholds(
    weights: np.ndarray,
    values: np.ndarray,
    consistent: np.ndarray,
    target: Target,
    probabilities: bool = False,
) -> np.ndarray:
    """
    The threshold in [0, 1] for each of R resamples; NaN for one without pairs of a
    class that the target needs.

    :param weights: (R, n), how often each pair counts.
    :param values: n scores in [0, 1].
    :param probabilities: whether the scores are probabilities, for ``accuracy``.
    """
    if target.kind == Aim.ACCURACY:
        return even_points(weights, values, consistent, probabilities)
    distinct = np.unique(values)
    # With candidate k, the k lowest of the K distinct scores are called inconsistent.
    lowest = Sweep(-values, ~consistent).counts(weights)
    wrong, right = (np.pad(n, ((0, 0), (1, 0))) for n in lowest)  # [R, K + 1] each
    cuts = np.concatenate([[0.0], (distinct[1:] + distinct[:-1]) / 2, [1.0]])
    with np.errstate(invalid='ignore'):
        recall = wrong / wrong[:, -1:]
        alarms = right / right[:, -1:]
    if target.kind == Aim.RECALL:
        places = (recall >= target.share).argmax(axis=1)
        undefined = np.isnan(recall[:, -1])
    else:
        within = alarms <= target.share
        places = len(cuts) - 1 - within[:, ::-1].argmax(axis=1)
        undefined = np.isnan(alarms[:, -1])
    return np.where(undefined, np.nan, cuts[places])


def even_points(
    weights: np.ndarray, values: np.ndarray, consistent: np.ndarray, probabilities: bool
) -> np.ndarray:
    """
    For each of R resamples, the score at which a logistic regression on the scores (on
    the log-odds of probabilities) gives both classes the same probability; 0 or 1, in
    favour of the more frequent class, if higher scores do not speak for a response.
    """
    x = np.clip(values, EDGE, 1 - EDGE)
    x = np.log(x / (1 - x)) if probabilities else values
    middle, width = x.mean(), x.std() or 1.0
    z, y = (x - middle)[:, None] / width, consistent.astype(float)
    points = []
    for weight in weights:
        share = weight @ y / weight.sum()
        (slope,), intercept = fit(z, y, weight, SLOPE_RIDGE)
        if 0 < share < 1 and slope > EDGE:
            point = middle - width * intercept / slope
            points.append(expit(point) if probabilities else np.clip(point, 0, 1))
        else:
            points.append(0.0 if share > 0.5 else 1.0)
    return np.array(points)


def held_out(
    pairs: Pairs, target: Target, probabilities: bool
) -> tuple[np.ndarray, np.ndarray]:
    """
    Cross-validate over folds of passages, applying each fit to the fold left out: the
    shifted values [N], and whether each is called consistent [N].
    """
    fold = assign_folds(pairs.passages, FOLDS)
    values, called = pairs.values.copy(), np.zeros(len(fold), dtype=bool)
    for part in np.unique(fold):
        rest = pairs.only(fold != part)
        if len(set(rest.consistent)) < 2:
            raise InputError(
                'All pairs of one class have the same knowledge, or nearly. Label '
                'pairs of more passages.'
            )
        fitted = fit_pairs(rest, target, probabilities)
        values[fold == part] = fitted.values(pairs.only(fold == part))
        called[fold == part] = values[fold == part] > fitted.threshold
    return values, called


def metrics(
    values: np.ndarray, consistent: np.ndarray, called: np.ndarray
) -> JsonObject:
    """
    Measures of how well pairs are labelled. ``majority`` is the accuracy of always
    predicting the more frequent class; ``precision`` (None without an alarm),
    ``recall`` and ``false_alarms`` are those of calling a response inconsistent.
    """
    alarms = ~called
    share = float(consistent.mean())
    return {
        'accuracy': float((called == consistent).mean()),
        'majority': max(share, 1 - share),
        'precision': float((~consistent)[alarms].mean()) if alarms.any() else None,
        'recall': float(alarms[~consistent].mean()),
        'false_alarms': float(alarms[consistent].mean()),
        'auc': roc_auc(values[consistent].tolist(), values[~consistent].tolist()),
    }


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float) -> Fit:
    """
    Minimise the weighted mean log-loss plus ``ridge / 2 * |weights|^2``.

    :param x: features [B, F].
    :param y: 1 for supported, else 0; [B].
    :param weight: the weight of each example, at least 0; [B].
    """
    weight = weight / weight.sum()

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = parameters[:-1], parameters[-1]
        z = x @ w + b
        value = weight @ (np.logaddexp(0, z) - y * z) + ridge / 2 * w @ w
        error = weight * (expit(z) - y)  # [B]
        return float(value), np.append(x.T @ error + ridge * w, error.sum())

    start = np.zeros(x.shape[1] + 1)
    bounds = [(0, None)] * x.shape[1] + [(None, None)]
    # TNC, since L-BFGS-B's threads take longer than the work on two parameters.
    optimum = minimize(loss, start, jac=True, method='TNC', bounds=bounds, tol=1e-9)
    return Fit(optimum.x[:-1], float(optimum.x[-1]))


def assign_folds(passages: np.ndarray, count: int) -> np.ndarray:
    """
    Assign each example a fold below ``count``, [B]. Examples of one passage share one;
    the folds have nearly the same number of passages.
    """
    different, of_each = np.unique(passages, return_inverse=True)
    order = np.random.default_rng(FOLD_SEED).permutation(len(different))
    return order[of_each] % count
