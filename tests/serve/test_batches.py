"""Requests share calls, and cannot spoil each other."""

import asyncio
import threading
import time
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
            futures = [batcher(item) for item in items]
            return await asyncio.gather(*futures, return_exceptions=True)

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
            first_future, stays = batcher(1), batcher(2)
            first_future.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first_future
            return await stays

    assert asyncio.run(ask()) == 2
    assert calls == [[2]]


def test_a_full_batch_does_not_wait_for_a_thread():
    both = threading.Barrier(2, timeout=30)
    calls = []

    def work(items):
        calls.append(len(items))
        if len(items) == MAX_ITEMS:
            both.wait()
        return items

    async def ask():
        with ThreadPoolExecutor(2) as threads:
            batcher = Batcher(work, threads, 0.01, 2)
            asked = [batcher(item) for item in range(2 * MAX_ITEMS + 3)]
            return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == list(range(2 * MAX_ITEMS + 3))
    assert sorted(calls) == [3, MAX_ITEMS, MAX_ITEMS]


def test_one_that_fills_meanwhile_does_not_wait_for_a_thread():
    both = threading.Barrier(2, timeout=30)

    def work(items):
        both.wait()
        return items

    async def ask():
        with ThreadPoolExecutor(2) as threads:
            batcher = Batcher(work, threads, 0.0, 2)
            first = batcher(0)
            await asyncio.sleep(0.05)
            rest = [batcher(item) for item in range(1, MAX_ITEMS + 1)]
            return await asyncio.gather(first, *rest)

    assert asyncio.run(ask()) == list(range(MAX_ITEMS + 1))


def slow(calls, seconds):
    """Work that takes so long, and notes how many items it got."""

    def work(items):
        calls.append(len(items))
        time.sleep(seconds)
        return items

    return work


@pytest.mark.parametrize('coming, expected', [(0, [1, 1, 1]), (99, [1, 2])])
def test_if_many_come_a_batch_waits_as_long_as_the_last_one_took(coming, expected):
    calls = []

    async def ask():
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(slow(calls, 0.2), thread, 0.0, coming=lambda: coming)
            await batcher(0)
            second = batcher(1)
            await asyncio.sleep(0.05)
            return await asyncio.gather(second, batcher(2))

    assert asyncio.run(ask()) == [1, 2]
    assert calls == expected


def test_a_full_batch_makes_no_pause():
    calls = []

    async def ask():
        with ThreadPoolExecutor(1) as thread:
            batcher = Batcher(slow(calls, 0.5), thread, 0.0, coming=lambda: 99)
            await batcher(0)
            began = time.monotonic()
            await asyncio.gather(*map(batcher, range(MAX_ITEMS)))
            return time.monotonic() - began

    assert asyncio.run(ask()) < 0.9
    assert calls == [1, MAX_ITEMS]
