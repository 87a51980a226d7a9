"""Figures at the threshold and of three classes, by hand and by scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from parlai_q2.evaluate.levels import response_level
from parlai_q2.evaluate.sets import BINARY
from tests.evaluate.helpers import BAD, GOOD, annotated, measure

PAIRS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.4, 0.5, 0.6, 1.0]), st.sampled_from(BINARY)),
    min_size=1,
)


def level(values, classes, **options):
    responses = [annotated(i, label) for i, label in enumerate(classes)]
    scored = measure(responses, values, **options)
    return response_level(scored, responses, rounds=20)


def means(metrics):
    return {k: None if v is None else v.mean for k, v in metrics.items()}


def test_a_score_at_the_threshold_is_inconsistent():
    metrics = means(level([0.9, 0.5, 0.5, 0.1], [GOOD, GOOD, BAD, BAD]))
    # One of two consistent is called so; three are called inconsistent, two rightly.
    assert metrics['consistent_precision'] == 1
    assert metrics['consistent_recall'] == 1 / 2
    assert metrics['consistent_f1'] == pytest.approx(2 / 3)
    assert metrics['inconsistent_precision'] == pytest.approx(2 / 3)
    assert metrics['inconsistent_recall'] == 1
    assert metrics['inconsistent_f1'] == pytest.approx(4 / 5)
    assert metrics['accuracy'] == 3 / 4
    # Of four pairs three are in order and one is a tie.
    assert metrics['roc_auc'] == pytest.approx(7 / 8)
    # From either end: the first is right, and of the next two, which tie, one is.
    assert metrics['consistent_ap'] == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)
    assert metrics['inconsistent_ap'] == pytest.approx(1 / 2 + 1 / 2 * 2 / 3)


@settings(deadline=None, max_examples=30)
@given(PAIRS)
def test_it_agrees_with_scikit_learn(pairs):
    values, labels = zip(*pairs)
    metrics = means(level(values, labels))
    predicted = [GOOD if v > 0.5 else BAD for v in values]
    expected = precision_recall_fscore_support(
        labels, predicted, labels=BINARY, zero_division=0
    )
    for i, label in enumerate(BINARY):
        if label in labels:
            for name, figures in zip(('precision', 'recall', 'f1'), expected):
                assert metrics[f'{label}_{name}'] == pytest.approx(figures[i])
        else:
            assert metrics[f'{label}_recall'] is None
            assert metrics[f'{label}_f1'] is None
    assert metrics['accuracy'] == pytest.approx(accuracy_score(labels, predicted))


def test_one_class_alone_has_no_ranking_but_an_accuracy_and_none_has_nothing():
    metrics = level([0.9, 0.2], [GOOD, GOOD])
    assert (metrics['roc_auc'], metrics['consistent_ap']) == (None, None)
    assert metrics['accuracy'].mean == 1 / 2
    assert set(level([], []).values()) == {None}


def test_scores_that_have_no_threshold_are_ranked_all_the_same():
    metrics = level([-3.0, 7.0], [BAD, GOOD], threshold=None)
    assert metrics['roc_auc'].mean == 1
    assert metrics['accuracy'] is None


def test_intervals_are_seeded_and_hold_the_figure():
    rng = np.random.default_rng(1)
    labels = [GOOD, BAD] * 30
    values = rng.random(60) * 0.7 + np.array([0.3, 0] * 30)
    first, other = level(values, labels), level(values, labels)
    assert first == other
    for interval in first.values():
        assert interval.low < interval.mean < interval.high
