"""
Measures how well a score ranks systems: bootstrapped Spearman correlation over
simulated systems.

It follows Honovich et al. 2021, section 5.2 and Table 4, step for step as in the
released ``system_level.py``. Each round samples 350 contexts, with replacement, from
those to which exactly one of two systems responded inconsistently. Each of five
simulated systems takes the inconsistent response in a given share of them (5, 10, 15,
20 and 25 %), chosen anew and without replacement, and the consistent response in the
others. The system's score is the mean over its responses; Spearman's rho compares the
five scores with the quality of the systems. 1000 rounds give the mean and its 95 %
interval.

One departure: the released code is unseeded. Here a seed decides all draws, and every
scorer gets the same ones, so that scorers can be compared round by round.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, percentiles, ratio

if TYPE_CHECKING:
    import numpy as np

# Honovich et al. 2021, section 5.2.
RESPONSES = 350
PROPORTIONS = (0.05, 0.1, 0.15, 0.2, 0.25)


@dataclass(frozen=True)
class SystemLevel:
    """
    How well a score ranks simulated systems.

    :param spearman: mean rho over the rounds, and their middle 95 %; None where rho is
        NaN in all rounds.
    :param rounds: rho in each round, in [-1, 1]; NaN where all five scores are equal.
    :param means: mean score of each simulated system, best system first.
    :param undefined: in how many rounds rho was NaN; these are left out of the mean.
    :param contexts: how many contexts there were to sample from.
    """

    spearman: Optional[Interval]
    rounds: 'np.ndarray'
    means: tuple[float, ...]
    undefined: int
    contexts: int


def system_level(
    consistent: Sequence[float],
    inconsistent: Sequence[float],
    responses: int = RESPONSES,
    proportions: Sequence[float] = PROPORTIONS,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> SystemLevel:
    """
    Simulate systems and rank them.

    :param consistent: for each context, the score of its consistent response.
    :param inconsistent: for each context, the score of its inconsistent response.
    :param responses: responses in each simulated system.
    :param proportions: each system's share of inconsistent responses, in ascending
        order.
    :param rounds: rounds of the bootstrap.
    :param seed: seed of all draws.
    :raises ValueError: when there are no contexts, or the two lengths differ.
    """
    import numpy as np

    if not len(consistent) or len(consistent) != len(inconsistent):
        raise ValueError(
            'The system level needs a consistent and an inconsistent score for each '
            f'context, not {len(consistent)} and {len(inconsistent)}.'
        )
    good, bad = np.asarray(consistent, float), np.asarray(inconsistent, float)
    rng = np.random.default_rng(seed)
    scores = np.empty((rounds, len(proportions)))
    for r in range(rounds):
        contexts = rng.integers(0, len(good), responses)
        for p, share in enumerate(proportions):
            chosen = rng.choice(responses, size=round(share * responses), replace=False)
            system = good[contexts]
            system[chosen] = bad[contexts[chosen]]
            scores[r, p] = system.mean()
    rho = spearman_with_quality(scores)
    defined = rho[np.isfinite(rho)]
    return SystemLevel(
        percentiles(float(defined.mean()), rho) if len(defined) else None,
        rho,
        tuple(float(m) for m in scores.mean(axis=0)),
        int(len(rho) - len(defined)),
        len(good),
    )


def spearman_with_quality(scores: 'np.ndarray') -> 'np.ndarray':
    """
    Spearman's rho between scores and descending quality, row by row.

    :param scores: (R, P), the scores of P systems, best first.
    :return: R values; NaN where all scores of a row are equal.
    """
    import numpy as np
    from scipy.stats import rankdata

    # The mean of the same numbers in another order may differ by rounding; such means
    # must tie.
    ranks = rankdata(np.round(scores, 12), axis=1)
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    quality = np.arange(scores.shape[1], 0, -1.0)
    quality -= quality.mean()
    lengths = np.sqrt((ranks**2).sum(axis=1) * (quality**2).sum())
    return ratio(ranks @ quality, lengths, np.nan)
