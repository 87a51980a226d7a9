"""Log odds and the probabilities that they stand for."""

from math import exp, log

# Probabilities are clipped to this distance from 0 and from 1.
MIN_DOUBT = 1e-4


def sigmoid(log_odds: float) -> float:
    """
    The probability in [0, 1] with the given log odds.

    >>> sigmoid(0.0), sigmoid(-1000.0)
    (0.5, 0.0)
    """
    if log_odds < 0:
        return exp(log_odds) / (1 + exp(log_odds))
    return 1 / (1 + exp(-log_odds))


def logit(probability: float) -> float:
    """
    The log odds of a probability in [0, 1], at most about 9 either way.

    >>> round(logit(sigmoid(2.5)), 9)
    2.5
    """
    probability = min(max(probability, MIN_DOUBT), 1 - MIN_DOUBT)
    return log(probability / (1 - probability))
