"""
Logistic regression. No weight is negative, since every feature of ``grounded`` speaks
for a response; a ridge shrinks all but the intercept.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

FOLD_SEED = 0


class Fit(NamedTuple):
    """A fitted model: P(supported) = sigmoid(x . weights + intercept)."""

    weights: np.ndarray
    intercept: float

    def probability(self, x: np.ndarray) -> np.ndarray:
        """The probabilities [B] for features [B, F]."""
        probabilities: np.ndarray = expit(x @ self.weights + self.intercept)
        return probabilities


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


def even_weights(groups: Sequence[str], y: np.ndarray) -> np.ndarray:
    """Weights [B] by which groups, and both classes in each, count the same."""
    names = np.asarray(groups)
    weight = np.zeros(len(y))
    for name in set(groups):
        for label in (0, 1):
            inside = (names == name) & (y == label)
            if inside.any():
                weight[inside] = 1 / inside.sum()
    return weight


def folds_of(passages: np.ndarray, count: int) -> np.ndarray:
    """
    The fold of each example, numbers below ``count`` [B]. Examples of one passage, such
    as a response and the wrong one made from it, share one; the folds have nearly the
    same number of passages.
    """
    different, of_each = np.unique(passages, return_inverse=True)
    order = np.random.default_rng(FOLD_SEED).permutation(len(different))
    return order[of_each] % count
