"""Bootstrap intervals of a mean."""

import math

import pytest

from parlai_q2.bootstrap import mean_interval


def test_of_a_constant_the_interval_is_a_point():
    assert mean_interval([0.25] * 7) == (0.25, 0.25, 0.25)


def test_of_many_values_it_is_as_wide_as_the_normal_one():
    # 400 coins: the mean's standard error is 0.5 / 20, of which 1.96 lie on each side.
    interval = mean_interval([0.0, 1.0] * 200)
    assert interval.mean == 0.5
    for side in (interval.mean - interval.low, interval.high - interval.mean):
        assert side == pytest.approx(1.96 * 0.5 / math.sqrt(400), rel=0.1)


def test_a_seed_gives_the_same_interval_again_and_another_gives_another():
    values = [n / 10 for n in range(11)]
    assert mean_interval(values, seed=1) == mean_interval(values, seed=1)
    assert mean_interval(values, seed=1) != mean_interval(values, seed=2)


def test_there_is_no_mean_of_nothing():
    with pytest.raises(ValueError, match='no values'):
        mean_interval([])
