"""
Measures how well scores separate consistent from inconsistent responses, tell three
classes apart, rank systems and agree with ratings (Honovich et al. 2021, Tables 3 to 5;
Dziri et al. 2022, Table 2). A statistic is computed for many resamples at once.
"""

import math
from collections.abc import Hashable, Sequence
from itertools import product
from typing import TYPE_CHECKING

from parlai_q2.claims import UNVERIFIABLE, Label, Score
from parlai_q2.evaluate.measures import ScoreTable, passages
from parlai_q2.evaluate.sets import BINARY, CLASSES, AnnotatedResponse
from parlai_q2.intervals import ROUNDS, SEED, Interval, intervals, percentiles, ratio
from parlai_q2.scorers.base import label_of
from parlai_q2.sweep import Sweep
from parlai_q2.tables import Cell
from parlai_q2.text.class_map import Finding, has_findings

if TYPE_CHECKING:
    import numpy as np

    from parlai_q2.intervals import Statistic


# In the order of the columns that threshold_metrics returns.
CLASS_METRICS = (
    *('_'.join(names) for names in product(BINARY, ('precision', 'recall', 'f1'))),
    'accuracy',
)


def class_metrics(
    weights: 'np.ndarray', truth: 'np.ndarray', called: 'np.ndarray'
) -> 'np.ndarray':
    """
    Precision, recall and F1 of one class, [3, R]; 0 where there is nothing to divide
    by.

    :param weights: [R, n], how often each response counts.
    :param truth: [n], whether the annotators gave the class to a response.
    :param called: [n], whether the scorer did.
    """
    import numpy as np

    right, actual, predicted = (weights @ c for c in (truth & called, truth, called))
    precision, recall = ratio(right, predicted, 0.0), ratio(right, actual, 0.0)
    return np.stack([precision, recall, ratio(2 * right, actual + predicted, 0.0)])


def threshold_metrics(
    weights: 'np.ndarray', scores: 'np.ndarray', consistent: 'np.ndarray', at: float
) -> 'np.ndarray':
    """
    The :data:`CLASS_METRICS` of R resamples, [R, 7]. The metrics of a class are NaN in
    a resample without responses of that class.

    :param weights: [R, n], how often each response counts.
    :param scores: [n]; a score of at most ``at`` is inconsistent.
    :param consistent: [n], whether the annotators found a response consistent.
    """
    import numpy as np

    called = scores > at
    columns = []
    for truth, predicted in ((consistent, called), (~consistent, ~called)):
        metrics = class_metrics(weights, truth, predicted)
        columns += [*np.where(weights @ truth > 0, metrics, np.nan)]
    right, total = weights @ (consistent == called), weights.sum(axis=1)
    return np.stack([*columns, ratio(right, total, np.nan)], axis=1)


# In the order of the columns that macro_metrics returns.
MACRO = (*CLASSES, 'macro_precision', 'macro_recall', 'macro')


def nli_class(score: Score) -> str | None:
    """BEGIN's class for the likeliest NLI class; None without class probabilities."""
    if not has_findings(score):
        return None
    likeliest = max(Finding, key=lambda finding: score.parts[finding])
    named = {
        Finding.ENTAILMENT: Label.CONSISTENT,
        Finding.CONTRADICTION: Label.INCONSISTENT,
    }
    return named.get(likeliest, Label.GENERIC)


def macro_metrics(
    weights: 'np.ndarray', truth: Sequence[str], predicted: Sequence[str]
) -> 'np.ndarray':
    """
    The :data:`MACRO` metrics of R resamples, [R, 6].

    :param weights: [R, n], how often each response counts.
    :param truth: the n classes that the annotators gave, and ``predicted`` the
        scorer's.
    """
    import numpy as np

    true_classes, predicted_classes = np.array(truth), np.array(predicted)
    metrics = [
        class_metrics(weights, true_classes == c, predicted_classes == c)
        for c in CLASSES
    ]
    by_class = np.array(metrics)  # (3 classes, 3 metrics, R)
    return np.concatenate([by_class[:, 2], by_class.mean(axis=0)]).T


def correlation(
    scores: Sequence[float],
    ratings: Sequence[float],
    rounds: int = ROUNDS,
    seed: int = SEED,
    groups: Sequence[Hashable] | None = None,
) -> dict[str, Cell]:
    """
    Correlate n scores with n ratings on any scale; ``groups`` as for
    :func:`parlai_q2.intervals.intervals`.

    :return: ``spearman`` and ``pearson``, in [-1, 1], and the two-sided p of no
        correlation as text. A coefficient is None for fewer than two responses, or
        where all scores or all ratings are equal; p is None for fewer than three, too.
    """
    import numpy as np
    from scipy.stats import pearsonr, rankdata, spearmanr

    x, y = np.asarray(scores, float), np.asarray(ratings, float)

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        coefficients = []
        for times in weights.astype(int):
            a, b = x.repeat(times), y.repeat(times)
            coefficients.append([pearson(rankdata(a), rankdata(b)), pearson(a, b)])
        return np.array(coefficients)

    spearman, linear = (
        intervals(statistic, len(x), rounds, seed, groups) if len(x) else (None, None)
    )
    defined = spearman is not None and linear is not None and len(x) > 2
    return {
        'spearman': spearman,
        'spearman_p': _p(spearmanr(x, y).pvalue) if defined else None,
        'pearson': linear,
        'pearson_p': _p(pearsonr(x, y).pvalue) if defined else None,
    }


def _p(value: float) -> str:
    return f'{value:.3f}' if value >= 0.001 else '< 0.001'


def pearson(a: 'np.ndarray', b: 'np.ndarray') -> float:
    """Pearson's r of n numbers each, at least one; NaN where one side is constant."""
    # Rounding can make the mean of equal numbers differ from that number.
    if a.min() == a.max() or b.min() == b.max():
        return math.nan
    a, b = a - a.mean(), b - b.mean()
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


RANKED = ('roc_auc', 'consistent_ap', 'inconsistent_ap')


# One scorer's metrics by name; None where one is undefined.
Metrics = dict[str, Interval | None]


def response_level(
    measure: ScoreTable,
    responses: Sequence[AnnotatedResponse],
    rounds: int = ROUNDS,
    seed: int = SEED,
    reference: ScoreTable | None = None,
) -> Metrics:
    """
    A scorer's metrics over the consistent and inconsistent responses that it has
    scored. With a ``reference``, by how much they exceed the reference's, on the same
    resamples of the responses that both have scored.
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


def _metrics(measure: ScoreTable, scored: Sequence[AnnotatedResponse]) -> 'Statistic':
    """Computes :data:`CLASS_METRICS` and :data:`RANKED` of resamples."""
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
    measure: ScoreTable,
    responses: Sequence[AnnotatedResponse],
    rounds: int = ROUNDS,
    seed: int = SEED,
    by_nli: bool = False,
) -> Metrics | None:
    """
    How well a scorer tells BEGIN's three classes apart (Dziri et al. 2022, Table 2), by
    the names of :data:`MACRO`; None for a scorer of two classes.

    :param by_nli: use the likeliest NLI class, where neutral means generic; the result
        is None without class probabilities.
    """
    scored = [r for r in measure.select_scored(responses) if r.label in CLASSES]
    called = [measure.score(r) for r in scored]
    at = measure.threshold
    if by_nli:
        classes = [nli_class(s) for s in called]
    elif at is None or not any(s.label in UNVERIFIABLE for s in called):
        return None
    else:
        classes = [
            Label.GENERIC if s.label in UNVERIFIABLE else label_of(s.value, at)
            for s in called
        ]
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


def system_level(
    consistent: Sequence[float],
    inconsistent: Sequence[float],
    responses: int = RESPONSES,
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> tuple[Interval | None, tuple[float, ...], int]:
    """
    Simulate systems and rank them, step for step as the released ``system_level.py``
    does. Each round samples contexts with replacement, from those to which exactly one
    of two systems responded inconsistently. Each simulated system takes the
    inconsistent response in its share of them, chosen anew and without replacement, and
    the consistent response in the others; its score is the mean over its responses.
    Spearman's rho compares the scores with the quality of the systems. Unlike there,
    every scorer gets the same draws.

    :param consistent: for each context, the score of its consistent response, and
        ``inconsistent`` that of the other.
    :param responses: responses in each simulated system.
    :return: the mean rho over the rounds, and their middle 95 %, None where it is NaN
        in all; the mean score of each simulated system, best first; and in how many
        rounds rho was NaN, which are left out.
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
    return (
        percentiles(float(defined.mean()), rho) if len(defined) else None,
        tuple(float(m) for m in scores.mean(axis=0)),
        len(rho) - len(defined),
    )


def spearman_with_quality(scores: 'np.ndarray') -> 'np.ndarray':
    """
    Spearman's rho [R] between scores [R, P] of P systems, the best first, and their
    quality; NaN where all scores of a row are equal.
    """
    import numpy as np
    from scipy.stats import rankdata

    # The mean of the same numbers in another order may differ by rounding; such means
    # must tie.
    ranks = rankdata(np.round(scores, 12), axis=1)
    quality = np.arange(scores.shape[1], 0, -1.0)
    return np.array([pearson(row, quality) for row in ranks])
