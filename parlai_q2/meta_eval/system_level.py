"""
How well a score orders systems: bootstrapped Spearman correlation of simulated systems.

Honovich et al. 2021, section 5.2 and Table 4, step for step as in the released
``system_level.py``. From the contexts to which exactly one of two systems responded
inconsistently, 350 are sampled with repetition. In each of five simulated systems a
given share of them (5, 10, 15, 20 and 25 %), chosen anew and without repetition, gets
its inconsistent response, the others their consistent one. The system's score is the
mean; Spearman's rho compares the five scores with the systems' quality. 1000 rounds
give mean and 95 % interval.

One departure: the released code is unseeded. Here a seed decides all draws, and they
are the same for every scorer, so that scorers can be compared round by round.
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
    What a score says of simulated systems.

    :param spearman: mean rho over the rounds and the middle 95 %; None where it is NaN
        in all of them.
    :param rounds: rho in each round, in [-1, 1]; NaN where all five scores are equal.
    :param means: mean score of the simulated systems, best first.
    :param undefined: in how many rounds rho was NaN; they are left out.
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
    :param responses: of each simulated system.
    :param proportions: the share of inconsistent responses of each system, rising.
    :param rounds: of the bootstrap.
    :param seed: of all draws.
    :raises ValueError: when there are no contexts, or not as many of one kind as of the
        other.
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
    Spearman's rho between scores and a falling quality, row by row.

    :param scores: (R, P), the scores of P systems, best first.
    :return: R values; NaN where all scores of a row are equal.
    """
    import numpy as np
    from scipy.stats import rankdata

    # Means of the same numbers in another order differ by rounding, and are equal.
    ranks = rankdata(np.round(scores, 12), axis=1)
    ranks = ranks - ranks.mean(axis=1, keepdims=True)
    quality = np.arange(scores.shape[1], 0, -1.0)
    quality -= quality.mean()
    lengths = np.sqrt((ranks**2).sum(axis=1) * (quality**2).sum())
    return ratio(ranks @ quality, lengths, np.nan)
