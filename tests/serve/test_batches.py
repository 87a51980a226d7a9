"""Requests share calls, and cannot spoil each other."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from parlai_q2.serve.batches import MAX_ITEMS, Batcher


def run(items, function, **settings):
    calls = []

    def work(batch):
        calls.append(list(batch))
        return [function(item) for item in batch]

    async def ask():
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(work, thread, 0.01)
            asked = [batcher(item) for item in items]
            return await asyncio.gather(*asked, return_exceptions=True)

    return asyncio.run(ask()), calls


def test_items_that_come_together_share_a_call():
    results, calls = run(range(5), lambda n: n * n)
    assert results == [0, 1, 4, 9, 16]
    assert calls == [[0, 1, 2, 3, 4]]


def test_a_call_has_at_most_so_many():
    _, calls = run(range(MAX_ITEMS + 1), lambda n: n)
    assert [len(call) for call in calls] == [MAX_ITEMS, 1]


def test_one_that_fails_fails_alone():
    results, _ = run([1, 0, 2], lambda n: 4 // n)
    assert results[0] == 4
    assert results[2] == 2
    assert isinstance(results[1], ZeroDivisionError)


def test_one_whose_client_has_left_is_not_computed():
    calls = []

    async def ask():
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(lambda items: calls.append(items) or items, thread, 0.01)
            left, stays = batcher(1), batcher(2)
            left.cancel()
            with pytest.raises(asyncio.CancelledError):
                await left
            return await stays

    assert asyncio.run(ask()) == 2
    assert calls == [[2]]
