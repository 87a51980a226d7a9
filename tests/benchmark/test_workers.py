"""
Scoring in bulk: the chunks, the real workers once, and how it is told.
"""

from parlai_q2.benchmark.describe import describe_workers
from parlai_q2.benchmark.workers import chunks, measure_workers
from parlai_q2.scorers import load_scorer

PAIRS = [('The band was formed in 1983.', 'It was formed in 1983.')] * 5


def test_every_pair_is_in_one_chunk():
    found = list(chunks(PAIRS, 2))
    assert [len(chunk.records) for chunk in found] == [2, 2, 1]
    assert [r.line for chunk in found for r in chunk.records] == [1, 2, 3, 4, 5]


def test_workers_with_the_same_scorer_are_timed():
    signature = str(load_scorer('q2', 'mini').signature)
    found = measure_workers('mini', signature, PAIRS[:2], workers=1, rounds=2)
    assert found['workers'] == 1
    assert 0 < found['seconds']['min'] <= found['seconds']['max']


def test_the_loop_is_told_in_multiples_of_the_workers_time():
    seconds = {'median': 0.1, 'min': 0.1, 'max': 0.2, 'p95': 0.2}
    found = {'workers': 2, 'threads': 1, 'seconds': seconds}
    assert '16.0 times as long (mini)' in describe_workers(found, {'mini': 1.6})
