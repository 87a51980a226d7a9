"""ROC-AUC, average precision and curves, by hand and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from parlai_q2.figures.curves import precision_recall, roc
from parlai_q2.sweep import Sweep, roc_auc

# Few values, so that ties are the rule.
SCORES = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.booleans()), min_size=2
).filter(lambda pairs: 0 < sum(p for _, p in pairs) < len(pairs))


@settings(deadline=None, max_examples=30)
@given(SCORES)
def test_areas_and_curves_agree_with_scikit_learn_ties_included(pairs):
    scores, positive = (np.array(side) for side in zip(*pairs))
    areas = Sweep(scores, positive).areas(np.ones((1, len(scores))))
    expected = (
        roc_auc_score(positive, scores),
        average_precision_score(positive, scores),
    )
    assert [float(area[0]) for area in areas] == pytest.approx([*expected])
    curve = precision_recall(scores, positive)
    precision, recall, _ = precision_recall_curve(positive, scores)
    # scikit-learn begins with the most lenient threshold, and adds the point (0, 1).
    assert curve == (pytest.approx(recall[-2::-1]), pytest.approx(precision[-2::-1]))
    alarms, hits, _ = roc_curve(positive, scores, drop_intermediate=False)
    assert roc(scores, positive) == (pytest.approx(alarms), pytest.approx(hits))


def test_the_auc_of_two_lists_is_that_of_a_sweep_and_needs_both():
    # Of four pairs two are ties.
    assert roc_auc([0.5, 0.9], [0.5, 0.5]) == 3 / 4
    with pytest.raises(ValueError, match='each class'):
        roc_auc([], [1.0])
