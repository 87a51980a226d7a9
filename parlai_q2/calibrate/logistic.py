"""
Logistic regression with weights that cannot be negative, and measures of its quality.

Every feature of ``grounded`` is built so that a higher value speaks for a response. A
negative weight would mean that the data are odd, not that support is bad. Weights are
therefore at least 0, and a feature that does not help gets 0. A ridge term shrinks the
weights; the intercept is free.
"""

from typing import NamedTuple, Sequence

import numpy as np

from parlai_q2.evaluate.statistics import roc_auc

ECE_BINS = 10


class Fit(NamedTuple):
    """A fitted model: P(supported) = sigmoid(x . weights + intercept)."""

    weights: np.ndarray
    intercept: float

    def probability(self, x: np.ndarray) -> np.ndarray:
        """The probabilities [B] for features [B, F]."""
        return 1 / (1 + np.exp(-(x @ self.weights + self.intercept)))


def fit(x: np.ndarray, y: np.ndarray, weight: np.ndarray, ridge: float) -> Fit:
    """
    Minimise the weighted mean log-loss plus ``ridge / 2 * |weights|^2``.

    :param x: features [B, F].
    :param y: 1 for supported, else 0; [B].
    :param weight: the weight of each example, at least 0; [B].
    """
    from scipy.optimize import minimize

    weight = weight / weight.sum()

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = parameters[:-1], parameters[-1]
        z = x @ w + b
        value = weight @ (np.logaddexp(0, z) - y * z) + ridge / 2 * w @ w
        error = weight * (1 / (1 + np.exp(-z)) - y)  # [B]
        return float(value), np.append(x.T @ error + ridge * w, error.sum())

    start = np.zeros(x.shape[1] + 1)
    bounds = [(0, None)] * x.shape[1] + [(None, None)]
    found = minimize(loss, start, jac=True, method='L-BFGS-B', bounds=bounds)
    return Fit(found.x[:-1], float(found.x[-1]))


def even_weights(groups: Sequence[str], y: np.ndarray) -> np.ndarray:
    """
    Weights [B] that make all groups count the same, and both classes (B zeros and ones)
    within each group.
    """
    names = np.asarray(groups)
    weight = np.zeros(len(y))
    for name in set(groups):
        for label in (0, 1):
            inside = (names == name) & (y == label)
            if inside.any():
                weight[inside] = 1 / inside.sum()
    return weight


class Quality(NamedTuple):
    """
    :param auc: area under the ROC curve.
    :param log_loss: the mean log-loss in nats, with both classes counting the same.
    :param ece: expected calibration error (Guo et al. 2017), with both classes counting
        the same.
    :param accuracy: the accuracy at 0.5, in [0, 1].
    """

    auc: float
    log_loss: float
    ece: float
    accuracy: float


def quality(p: np.ndarray, y: np.ndarray) -> Quality:
    """The quality of probabilities [B], given classes [B], both among them."""
    weight = even_weights(['all'] * len(y), y)
    weight = weight / weight.sum()
    sure = np.clip(p, 1e-6, 1 - 1e-6)
    log_loss = -weight @ (y * np.log(sure) + (1 - y) * np.log(1 - sure))
    ece = sum(
        abs(w * (share - mean)) for _, mean, share, w in reliability(p, y, weight)
    )
    return Quality(
        roc_auc(list(p[y == 1]), list(p[y == 0])),
        float(log_loss),
        float(ece),
        float(((p > 0.5) == y).mean()),
    )


def reliability(
    p: np.ndarray, y: np.ndarray, weight: np.ndarray, bins: int = ECE_BINS
) -> list[tuple[int, float, float, float]]:
    """
    The points of a reliability diagram of probabilities [B] and classes [B], with
    weights [B] that sum to 1: for each bin that is not empty its place, the mean
    probability, the share of positives and the total weight.
    """
    # A bound belongs to the bin below it, as in parlai_q2.evaluate.calibration.
    bounds = np.arange(1, bins + 1) / bins
    place = np.searchsorted(bounds, p, side='left')
    points = []
    for k in range(bins):
        inside = place == k
        total = weight[inside].sum()
        if total > 0:
            mean = weight[inside] @ p[inside] / total
            share = weight[inside] @ y[inside] / total
            points.append((k, float(mean), float(share), float(total)))
    return points
