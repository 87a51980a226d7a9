"""
Macro F1 over BEGIN's three classes (Dziri et al. 2022, section 6), for scorers that can
label a response as making no claim.

A response labelled ``generic`` or ``not_verifiable`` counts as generic; for any other,
the score and the threshold decide. The F1 of a class that is neither annotated nor
predicted is 0, as in scikit-learn.
"""

from typing import TYPE_CHECKING, Sequence

from parlai_q2.bootstrap import ratio
from parlai_q2.evaluate.judged import CLASSES
from parlai_q2.records import UNVERIFIABLE, Label, Score
from parlai_q2.scorers.base import label_of

if TYPE_CHECKING:
    import numpy as np


def predicted_class(score: Score, threshold: float) -> str:
    """
    The class that a score predicts, one of the three.

    :param score: a score with its label.
    :param threshold: a score of at most this predicts ``inconsistent``.
    """
    if score.label in UNVERIFIABLE:
        return Label.GENERIC
    return label_of(score.value, threshold)


def macro_f1(
    weights: 'np.ndarray', truth: Sequence[str], predicted: Sequence[str]
) -> 'np.ndarray':
    """
    The F1 of each class, and their mean.

    :param weights: (R, n), how often each response counts.
    :param truth: n classes, from the annotators.
    :param predicted: n classes, from the scorer.
    :return: (R, 4): F1 of consistent, inconsistent and generic, and macro F1.
    """
    import numpy as np

    columns = []
    for name in CLASSES:
        given = np.array([t == name for t in truth], dtype=bool)
        called = np.array([p == name for p in predicted], dtype=bool)
        both = weights @ given + weights @ called
        columns.append(ratio(2 * (weights @ (given & called)), both, 0.0))
    columns.append(np.mean(columns, axis=0))
    return np.stack(columns, axis=1)
