"""Prior and threshold, against values worked out by hand."""

import numpy as np
import pytest

from parlai_q2.calibrate.fit import (
    Pairs,
    best_thresholds,
    bootstrap_threshold,
    even_points,
    fit_pairs,
    held_out,
    metrics,
    read_target,
)
from parlai_q2.errors import ConfigError

VALUES = np.array([0.1, 0.2, 0.3, 0.6, 0.8])
TRUTH = np.array([False, False, True, False, True])
ONCE = np.ones((1, 5))


def best(text, weights=ONCE, values=VALUES, truth=TRUTH):
    return best_thresholds(np.asarray(weights), values, truth, read_target(text))


def test_for_accuracy_the_threshold_is_where_both_classes_are_as_likely():
    # A logistic regression on scores that mirror one another crosses in the middle.
    values = np.array([0.1, 0.3, 0.4, 0.6, 0.7, 0.9])
    truth = np.array([False, False, True, False, True, True])
    once = np.ones((1, 6))
    assert best('accuracy', once, values, truth) == pytest.approx([0.5], abs=1e-6)
    # With more wrong ones the threshold is higher.
    (threshold,) = even_points(np.array([[2, 2, 1, 2, 1, 1]]), values, truth, True)
    assert 0.5 < threshold < 0.9


@pytest.mark.parametrize(
    'weights, truth, threshold',
    [
        # The higher score is the wrong one's.
        ((3, 1), (True, False), 0.0),
        ((1, 3), (True, False), 1.0),
        # There is one class.
        ((1, 1), (True, True), 0.0),
        ((1, 1), (False, False), 1.0),
    ],
)
def test_where_scores_say_nothing_all_are_called_the_more_frequent_class(
    weights, truth, threshold
):
    values = np.array([0.2, 0.8])
    found = even_points(np.array([weights]), values, np.array(truth), True)
    assert found.tolist() == [threshold]


@pytest.mark.parametrize(
    'target, threshold, why',
    [
        ('recall=0.6', 0.25, 'two of three, with as few alarms as possible'),
        ('recall=0.7', 0.7, 'three of three'),
        ('false_alarms=0', 0.25, 'as many as are found without one'),
        ('false_alarms=0.5', 0.7, 'one of two'),
        ('false_alarms=1', 1.0, 'any number'),
    ],
)
def test_a_target_is_reached_and_not_more(target, threshold, why):
    assert best(target).tolist() == [pytest.approx(threshold)], why


@pytest.mark.parametrize(
    'text', ['accuracy=0.5', 'recall', 'recall=x', 'f1', 'recall=nan']
)
def test_a_target_that_is_none_is_refused(text):
    with pytest.raises(ConfigError, match='accuracy, recall=SHARE'):
        read_target(text)


def drawn(count, seed=1):
    """Pairs whose scores assume half to be consistent, while four fifths are."""
    rng = np.random.default_rng(seed)
    truth = rng.random(count) < 0.8
    odds = rng.normal(np.where(truth, 1.0, -1.0), 1.0)
    values = 1 / (1 + np.exp(-2 * odds))
    passages = np.array([f'k{n // 2}' for n in range(count)])
    return Pairs(values, truth, passages, None)


def test_of_more_pairs_the_threshold_is_surer_and_the_prior_is_found():
    wide, narrow = (
        fit_pairs(drawn(n), read_target('accuracy'), True) for n in (50, 800)
    )
    widths = []
    for count, fitted in ((50, wide), (800, narrow)):
        interval = bootstrap_threshold(
            drawn(count), fitted, read_target('accuracy'), True
        )
        assert interval.low <= interval.mean == fitted.threshold <= interval.high
        widths.append(interval.high - interval.low)
    assert widths[1] < 0.7 * widths[0]
    # The scores are exact probabilities for half, so at 0.8 the odds are four times
    # as high, and the best threshold of the shifted values is 0.5.
    assert narrow.shift == pytest.approx(np.log(4), abs=0.2)
    assert narrow.threshold == pytest.approx(0.5, abs=0.12)


def test_refitted_weights_count_both_classes_the_same():
    # A feature that says nothing leaves the odds of the classes, which are even.
    values, truth, passages, _ = vars(drawn(100)).values()
    pairs = Pairs(values, truth, passages, np.full((100, 1), 0.5))
    weights = fit_pairs(pairs, read_target('accuracy'), True).weights
    assert weights.probability(np.array([[0.5]])) == pytest.approx([0.5], abs=1e-3)


def test_what_is_held_out_is_ranked_as_before_and_labelled_better():
    pairs = drawn(400)
    values, called = held_out(pairs, read_target('accuracy'), True)
    measured = metrics(values, pairs.consistent, called)
    before = metrics(pairs.values, pairs.consistent, pairs.values > 0.5)
    assert measured['accuracy'] >= before['accuracy']
    assert measured['majority'] == pytest.approx(pairs.consistent.mean())
    whole = fit_pairs(pairs, read_target('accuracy'), True).values(pairs)
    assert metrics(whole, pairs.consistent, called)['auc'] == before['auc']


def test_metrics_by_hand():
    called = np.array([False, True, True, False, True])
    measured = metrics(VALUES, TRUTH, called)
    assert measured == {
        'accuracy': pytest.approx(0.8),
        'majority': pytest.approx(0.6),
        'precision': 1.0,
        'recall': pytest.approx(2 / 3),
        'false_alarms': 0.0,
        'auc': pytest.approx(5 / 6),
    }
    none = metrics(VALUES, TRUTH, np.ones(5, dtype=bool))
    assert none['precision'] is None
    assert none['recall'] == 0
