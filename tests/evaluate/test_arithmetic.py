"""Correlation and resampling, by hand and against scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from parlai_q2.evaluate.levels import correlation
from parlai_q2.intervals import intervals, percentiles

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
