"""The bootstrap of simulated systems, by hand and against scipy."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from parlai_q2.evaluate.levels import PROPORTIONS, system_level
from parlai_q2.evaluate.sets import AnnotatedSet, contrasts
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated


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
