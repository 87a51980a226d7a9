"""The metrics of reranked turns."""

import pytest

from parlai_q2.agents.grounded_rerank.metrics import compute_metrics
from parlai_q2.rerank import Reranker, Rule
from parlai_q2.rerank.guards import GUARD_NAMES
from tests.rerank.toys import ToyScorer, pool


def total(values):
    """What ParlAI adds up: it leaves out what is None."""
    present = [value for value in values if value is not None]
    return sum(present[1:], present[0]) if present else None


def test_metrics_are_means_over_the_turns_where_they_mean_something():
    pools = [
        pool('red blue', 'green', 'red', 'red green'),  # first 0, chosen 1
        pool('red blue', 'red', 'green'),  # first 1, chosen 1
        pool('red', 'hello', 'hello hello'),  # nothing to verify
        pool('', 'a'),
    ]
    metrics = compute_metrics(
        Reranker(ToyScorer(), Rule(abstain_below=0.2)).rank_batch(pools)
    )
    assert {len(values) for values in metrics.values()} == {4}
    assert [v is None for v in metrics['rerank/chosen']] == [False, False, True, True]
    # Relevance was not read, so its metrics have no values.
    sums = {name: total(values) for name, values in metrics.items()}
    means = {name: value.value() for name, value in sums.items() if value is not None}
    assert sums.keys() - means.keys() == {'rerank/relevance', 'rerank/answers'}
    assert means == pytest.approx(
        {
            'rerank/chosen': 1.0,
            'rerank/first': 0.5,
            'rerank/gain': 0.5,
            'rerank/oracle': 1.0,
            'rerank/distinct': (3 + 2 + 2 + 1) / 4,
            'rerank/empty': 0.0,
            # Only a greeting passes where nothing can be verified.
            'rerank/abstained': 0.25,
            'rerank/unverifiable': 0.5,
            # Of three turns with knowledge, one has nothing but greetings.
            'rerank/generic': 1 / 3,
            # No other guard holds: "red" is shorter than a copy has to be.
            **{f'rerank/{name}': 0.0 for name in GUARD_NAMES if name != 'generic'},
        }
    )
