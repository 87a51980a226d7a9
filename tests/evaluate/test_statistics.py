"""Statistics of an evaluation, by hand and against scipy and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from parlai_q2.evaluate.levels import PROPORTIONS, correlation, system_level
from parlai_q2.evaluate.sets import AnnotatedSet, contrasts
from parlai_q2.figures.curves import precision_recall, roc
from parlai_q2.intervals import intervals, percentiles
from parlai_q2.sweep import Sweep, roc_auc
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated

NUMBERS = st.sampled_from([0.0, 0.1, 0.5, 0.7, 1.0])


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2))
def test_correlations_agree_with_scipy(pairs):
    x, y = zip(*pairs)
    result = correlation(x, y, rounds=3)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert (result['spearman'], result['pearson']) == (None, None)
    else:
        assert result['spearman'].mean == pytest.approx(spearmanr(x, y).statistic)
        assert result['pearson'].mean == pytest.approx(pearsonr(x, y).statistic)


def test_responses_that_stand_and_fall_together_widen_the_interval():
    # Ten passages of ten responses each, right or wrong as a whole.
    values = np.repeat([0.0, 1] * 5, 10)

    def mean(weights):
        return (weights @ values / weights.sum(axis=1))[:, None]

    (alone,) = intervals(mean, 100)
    (together,) = intervals(mean, 100, groups=np.repeat(range(10), 10).tolist())
    assert together.mean == alone.mean == 0.5
    # One passage for all tells nothing of other passages.
    assert intervals(mean, 100, groups=['x'] * 100) == [alone]
    # sqrt(p (1 - p) / n) with n of 100 and of 10.
    assert alone.high - alone.low == pytest.approx(2 * 1.96 * 0.05, rel=0.15)
    assert together.high - together.low == pytest.approx(2 * 1.96 * 0.158, rel=0.15)


def test_an_interval_holds_the_middle_95_percent():
    samples = np.array([*np.linspace(0, 1, 1001), np.nan])
    assert percentiles(0.4, samples) == pytest.approx((0.4, 0.025, 0.975))


def test_nothing_has_no_interval_and_resamples_without_a_figure_are_left_out():
    assert intervals(lambda w: w.sum(axis=1, keepdims=True), 0) == [None]
    first = np.array([1.0, 0.0])

    def when_drawn(weights):
        return np.where(weights @ first > 0, 0.7, np.nan)[:, None]

    assert intervals(when_drawn, 2, rounds=50) == [(0.7, 0.7, 0.7)]


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


def test_a_perfect_score_orders_all_systems_and_its_means_are_the_shares():
    spearman, means, undefined = system_level([1.0] * 10, [0.0] * 10, rounds=7)
    assert (spearman, undefined) == ((1, 1, 1), 0)
    # 350 times 5, 10, 15, 20 and 25 %, rounded to even as in the released code.
    inconsistent = np.array([18, 35, 52, 70, 88])
    assert means == pytest.approx(1 - inconsistent / 350)


def test_a_score_that_says_nothing_has_no_correlation():
    spearman, _, undefined = system_level([0.3] * 4, [0.3] * 4, rounds=6)
    assert (spearman, undefined) == (None, 6)


def test_a_plain_loop_over_the_same_draws_gives_the_same():
    rng = np.random.default_rng(5)
    good, bad = rng.random(20), rng.random(20) * 0.9
    spearman, _, _ = system_level(good, bad, responses=40, rounds=4, seed=9)
    draws = np.random.default_rng(9)
    rhos = []
    for _ in range(4):
        contexts = draws.integers(0, 20, 40)
        scores = []
        for share in PROPORTIONS:
            chosen = set(draws.choice(40, size=round(share * 40), replace=False))
            picked = [
                bad[c] if i in chosen else good[c] for i, c in enumerate(contexts)
            ]
            scores.append(sum(picked) / 40)
        rhos.append(spearmanr([5, 4, 3, 2, 1], scores).statistic)
    assert spearman.mean == pytest.approx(np.mean(rhos))


def test_a_contrast_has_exactly_one_inconsistent_response():
    crossed = [
        (annotated(0, GOOD), annotated(1, BAD)),
        (annotated(2, BAD), annotated(3, GOOD)),
        (annotated(4, GOOD), annotated(5, GOOD)),
        (annotated(6, BAD), annotated(7, BAD)),
        (annotated(8, GOOD), annotated(9, GENERIC)),
        (annotated(10, GOOD), annotated(11, BAD), annotated(12, BAD)),
    ]
    pairs = contrasts(AnnotatedSet('s', 's', (), tuple(crossed)).crossed)
    assert [(c.consistent.response, c.inconsistent.response) for c in pairs] == [
        ('response 0', 'response 1'),
        ('response 3', 'response 2'),
    ]
