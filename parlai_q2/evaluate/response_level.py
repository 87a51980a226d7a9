"""
Measures how well a score separates consistent from inconsistent responses.

It follows Honovich et al. 2021, section 5.1 and Table 3, and adds ROC-AUC, average
precision and bootstrap intervals. Responses of BEGIN's class ``generic`` are neither,
so they are left out; only :func:`three_way` includes them.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Mapping, Optional, Sequence

from parlai_q2.bootstrap import ROUNDS, SEED, Interval, intervals
from parlai_q2.evaluate.judged import BINARY, CLASSES, Judged
from parlai_q2.evaluate.measure import Measure, passages
from parlai_q2.evaluate.ranking import Sweep, average_precision, roc_auc
from parlai_q2.evaluate.three_way import macro_f1, predicted_class
from parlai_q2.evaluate.threshold import FIGURES, threshold_figures
from parlai_q2.records import UNVERIFIABLE, Label

if TYPE_CHECKING:
    import numpy as np

    from parlai_q2.bootstrap import Statistic

RANKED = ('roc_auc', 'consistent_ap', 'inconsistent_ap')


@dataclass(frozen=True)
class ResponseLevel:
    """
    One scorer's figures.

    :param counts: how many responses of each class were scored.
    :param missing: how many responses have no score and are left out.
    :param figures: by name, those of :data:`~parlai_q2.evaluate.threshold.FIGURES` and
        of :data:`RANKED`; None where one is undefined.
    """

    counts: Mapping[str, int]
    missing: int
    figures: Mapping[str, Optional[Interval]]


def response_level(
    measure: Measure,
    responses: Sequence[Judged],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> ResponseLevel:
    """
    Compute one scorer's figures over the responses of the two classes.

    :param measure: the scores.
    :param responses: responses of any class; generic ones are left out.
    :param rounds: number of bootstrap resamples.
    :param seed: seed of the resampling.
    """
    judged = [r for r in responses if r.label in BINARY]
    known = measure.known(judged)
    found = intervals(
        _figures(measure, known), len(known), rounds, seed, passages(known)
    )
    return ResponseLevel(
        {c: sum(r.label == c for r in known) for c in BINARY},
        len(judged) - len(known),
        dict(zip((*FIGURES, *RANKED), found, strict=True)),
    )


def level_difference(
    measure: Measure,
    reference: Measure,
    responses: Sequence[Judged],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Optional[dict[str, Optional[Interval]]]:
    """
    How much better one scorer is than another, on the responses that both have scored.
    Both are computed on the same resamples, so whatever makes a resample hard or easy
    for both cancels out.

    :param measure: the scores.
    :param reference: the scores to compare with.
    :param responses: responses of any class; generic ones are left out.
    :param rounds: number of bootstrap resamples.
    :param seed: seed of the resampling.
    :return: by name, the figure of ``measure`` minus that of ``reference``, or None
        where either is undefined; None altogether where no response has both scores.
    """
    judged = [r for r in responses if r.label in BINARY]
    known = reference.known(measure.known(judged))
    if not known:
        return None
    ours, theirs = (_figures(m, known) for m in (measure, reference))
    found = intervals(
        lambda weights: ours(weights) - theirs(weights),
        len(known),
        rounds,
        seed,
        passages(known),
    )
    return dict(zip((*FIGURES, *RANKED), found, strict=True))


def _figures(measure: Measure, known: Sequence[Judged]) -> 'Statistic':
    """
    A function that computes :data:`FIGURES` and :data:`RANKED` for resamples.

    :param known: responses of the two classes that have a score.
    """
    import numpy as np

    scores = measure.values(known)
    consistent = np.array([r.label == Label.CONSISTENT for r in known], dtype=bool)
    upward, downward = Sweep(scores, consistent), Sweep(-scores, ~consistent)
    at = measure.threshold

    def statistic(weights: 'np.ndarray') -> 'np.ndarray':
        counts = upward.counts(weights)
        ranked = [
            roc_auc(*counts),
            average_precision(*counts),
            average_precision(*downward.counts(weights)),
        ]
        if at is None:
            figures = np.full((len(weights), len(FIGURES)), np.nan)
        else:
            figures = threshold_figures(weights, scores, consistent, at)
        return np.column_stack([figures, *ranked])

    return statistic


def three_way(
    measure: Measure,
    responses: Sequence[Judged],
    rounds: int = ROUNDS,
    seed: int = SEED,
) -> Optional[dict[str, Optional[Interval]]]:
    """
    The F1 of each of BEGIN's three classes, and their mean as ``macro``.

    :return: None for a scorer that knows only two classes (it labels no response as
        generic or not verifiable), or that has no threshold.
    """
    known = [r for r in measure.known(responses) if r.label]
    called = [measure.score(r) for r in known]
    at = measure.threshold
    if at is None or not any(s.label in UNVERIFIABLE for s in called):
        return None
    truth = [r.label for r in known]
    predicted = [predicted_class(s, at) for s in called]
    found = intervals(
        lambda weights: macro_f1(weights, truth, predicted),
        len(known),
        rounds,
        seed,
        passages(known),
    )
    return dict(zip((*CLASSES, 'macro'), found, strict=True))
