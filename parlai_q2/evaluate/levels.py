"""
The two levels of Honovich et al. 2021, Tables 3 and 4: does a score separate consistent
from inconsistent responses, and does it rank systems?
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from parlai_q2.claims import UNVERIFIABLE, Label
from parlai_q2.evaluate.measures import Measure, passages
from parlai_q2.evaluate.sets import BINARY, CLASSES, AnnotatedResponse
from parlai_q2.evaluate.statistics import (
    CLASS_METRICS,
    MACRO,
    macro_metrics,
    nli_class,
    pearson,
    predicted_class,
    threshold_metrics,
)
from parlai_q2.intervals import ROUNDS, SEED, Interval, intervals, percentiles
from parlai_q2.sweep import Sweep

if TYPE_CHECKING:
    import numpy as np

    from parlai_q2.intervals import Statistic


RANKED = ('roc_auc', 'consistent_ap', 'inconsistent_ap')


# One scorer's metrics by name; None where one is undefined.
Metrics = dict[str, Interval | None]


def response_level(
    measure: Measure,
    responses: Sequence[AnnotatedResponse],
    rounds: int = ROUNDS,
    seed: int = SEED,
    reference: Measure | None = None,
) -> Metrics:
    """
    Compute one scorer's metrics over the responses of the two classes that it has
    scored.

    :param responses: responses of any class; generic ones are left out.
    :param reference: another scorer. With it, the metrics are how much better the first
        one is, on the same resamples of the responses that both have scored.
    """
    scored = measure.select_scored([r for r in responses if r.label in BINARY])
    if reference is not None:
        scored = reference.select_scored(scored)
    ours = _metrics(measure, scored)
    theirs = _metrics(reference, scored) if reference else None

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        return ours(weights) - theirs(weights) if theirs else ours(weights)

    metrics = intervals(statistic, len(scored), rounds, seed, passages(scored))
    return dict(zip((*CLASS_METRICS, *RANKED), metrics, strict=True))


def _metrics(measure: Measure, scored: Sequence[AnnotatedResponse]) -> 'Statistic':
    """
    A function that computes :data:`CLASS_METRICS` and :data:`RANKED` for resamples.

    :param scored: responses of the two classes that have a score.
    """
    import numpy as np

    scores = measure.values(scored)
    consistent = np.array([r.label == Label.CONSISTENT for r in scored], dtype=bool)
    upward, downward = Sweep(scores, consistent), Sweep(-scores, ~consistent)
    at = measure.threshold

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        ranked = [*upward.areas(weights), downward.areas(weights)[1]]
        if at is None:
            metrics = np.full((len(weights), len(CLASS_METRICS)), np.nan)
        else:
            metrics = threshold_metrics(weights, scores, consistent, at)
        return np.column_stack([metrics, *ranked])

    return statistic


def three_way(
    measure: Measure,
    responses: Sequence[AnnotatedResponse],
    rounds: int = ROUNDS,
    seed: int = SEED,
    by_nli: bool = False,
) -> Metrics | None:
    """
    How well a scorer tells BEGIN's three classes apart (Dziri et al. 2022, Table 2).

    :param by_nli: take the classes as the paper does for NLI models: the likeliest
        class, where neutral means generic. Otherwise a response is generic if the
        scorer calls it generic or not verifiable.
    :return: by the names of :data:`~parlai_q2.evaluate.statistics.MACRO`; None for a
        scorer of two classes or, with ``by_nli``, without class probabilities.
    """
    scored = [r for r in measure.select_scored(responses) if r.label in CLASSES]
    called = [measure.score(r) for r in scored]
    at = measure.threshold
    if by_nli:
        classes = [nli_class(s) for s in called]
    elif at is None or not any(s.label in UNVERIFIABLE for s in called):
        return None
    else:
        classes = [predicted_class(s, at) for s in called]
    predicted = [c for c in classes if c is not None]
    if len(predicted) < len(scored) or not scored:
        return None
    truth = [r.label for r in scored]
    metrics = intervals(
        lambda weights: macro_metrics(weights, truth, predicted),
        len(scored),
        rounds,
        seed,
        passages(scored),
    )
    return dict(zip(MACRO, metrics, strict=True))


# Honovich et al. 2021, Table 4: the responses of a simulated system, and the shares
# of inconsistent ones.
RESPONSES = 350
PROPORTIONS = (0.05, 0.1, 0.15, 0.2, 0.25)


@dataclass(frozen=True)
class SystemLevel:
    """
    How well a score ranks simulated systems.

    :param spearman: mean rho over the rounds, and their middle 95 %; None where rho is
        NaN in all rounds.
    :param rhos: rho in each round, in [-1, 1]; NaN where all five scores are equal.
    :param means: mean score of each simulated system, best system first.
    :param undefined: in how many rounds rho was NaN; these are left out of the mean.
    """

    spearman: Interval | None
    rhos: 'np.ndarray'
    means: tuple[float, ...]
    undefined: int


def system_level(
    consistent: Sequence[float],
    inconsistent: Sequence[float],
    responses: int = RESPONSES,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> SystemLevel:
    """
    Simulate systems and rank them, step for step as the released ``system_level.py``
    does. Each round samples contexts with replacement, from those to which exactly one
    of two systems responded inconsistently. Each simulated system takes the
    inconsistent response in its share of them, chosen anew and without replacement, and
    the consistent response in the others; its score is the mean over its responses.
    Spearman's rho compares the scores with the quality of the systems. Unlike there, a
    seed decides all draws, and every scorer gets the same ones.

    :param consistent: for each context, the score of its consistent response.
    :param inconsistent: for each context, the score of its inconsistent response.
    :param responses: responses in each simulated system.
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
    scores = np.empty((rounds, len(PROPORTIONS)))
    for r in range(rounds):
        contexts = rng.integers(0, len(good), responses)
        for p, share in enumerate(PROPORTIONS):
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
        len(rho) - len(defined),
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
    quality = np.arange(scores.shape[1], 0, -1.0)
    return np.array([pearson(row, quality) for row in ranks])
