"""Where a message has what is to be classified, and the mean of the F1."""

import pytest

from parlai_q2.errors import InputError
from parlai_q2.parlai.classification import (
    MacroF1Metric,
    Pair,
    class_metrics,
    find_pair,
    need_pair,
)


@pytest.mark.parametrize(
    'message, pair, why',
    [
        ({'text': 'k\nr'}, Pair('k', 'r'), 'the view of our tasks'),
        ({'text': 'k\nk\nr\n'}, Pair('k\nk', 'r'), 'the last line is the response'),
        ({'text': 'k\nr', 'checked_sentence': 'c'}, Pair('c', 'r'), 'a field first'),
        (
            {'text': 'm', 'checked_sentence': 'c', 'response': 'r'},
            Pair('c', 'r'),
            'in fields only',
        ),
        ({'text': 'k\nr', 'response': 'r'}, Pair('k', 'r'), 'what stands before it'),
        ({'text': 'm\nr', 'knowledge': 't __knowledge__ k'}, Pair('k', 'r'), 'marked'),
        ({'text': 'm', 'response': 'r'}, Pair('', 'r'), 'no knowledge'),
        ({'text': 'hello'}, None, 'no response'),
        ({}, None, 'nothing'),
    ],
)
def test_finds_pairs_in_messages(message, pair, why):
    assert find_pair(message) == pair, why


def test_a_message_without_a_pair_is_an_error_that_names_its_fields():
    with pytest.raises(InputError, match='fields: labels, text'):
        need_pair({'text': 'hello', 'labels': ['x']})


def test_macro_f1_counts_each_class_the_same():
    """Answers a, a, b where a, b, b is true: F1 is 2/3 for a, 2/3 for b, 0 for c."""
    metrics = class_metrics('aab', 'abb', 'abc')
    total = None
    for class_metric in metrics['macro_f1']:
        total = class_metric + total if total is None else total + class_metric
    assert isinstance(total, MacroF1Metric)
    assert total.value() == pytest.approx((2 / 3 + 2 / 3 + 0) / 3)
    weighted = sum(metrics['weighted_f1'][1:], metrics['weighted_f1'][0])
    assert weighted.value() == pytest.approx((1 * 2 / 3 + 2 * 2 / 3) / 3)
    assert MacroF1Metric({}).value() == 0
