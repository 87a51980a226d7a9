"""AUC against values worked out by hand, and against scikit-learn."""

import random

import pytest
from sklearn.metrics import roc_auc_score

from parlai_q2.evaluate.statistics import roc_auc


@pytest.mark.parametrize(
    'positive, negative, expected',
    [
        ([0.9, 0.8], [0.1, 0.2], 1.0),
        ([0.1], [0.9], 0.0),
        ([0.5], [0.5], 0.5),
        ([0.9, 0.4], [0.5, 0.1], 3 / 4),
        ([0.5, 0.9], [0.5, 0.5], 3 / 4),  # two ties of four pairs
    ],
)
def test_values_worked_out_by_hand(positive, negative, expected):
    assert roc_auc(positive, negative) == pytest.approx(expected)


def test_it_agrees_with_scikit_learn_ties_included():
    rng = random.Random(0)
    positive = [rng.randint(0, 6) / 6 for _ in range(80)]
    negative = [rng.randint(0, 5) / 6 for _ in range(50)]
    expected = roc_auc_score([1] * 80 + [0] * 50, positive + negative)
    assert roc_auc(positive, negative) == pytest.approx(expected)


@pytest.mark.parametrize('positive, negative', [([], [1.0]), ([1.0], [])])
def test_it_needs_both_classes(positive, negative):
    with pytest.raises(ValueError, match='each class'):
        roc_auc(positive, negative)
