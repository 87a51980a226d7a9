"""Requests share calls, and cannot spoil each other."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from parlai_q2.serve.batches import MAX_ITEMS, Batcher


def run(ask, work, seconds=0.01, calls=1, **settings):
    """What ``ask`` gets from a batcher."""

    async def ask_batcher():
        with ThreadPoolExecutor(calls) as threads:
            return await ask(Batcher(work, threads, seconds, calls, **settings))

    return asyncio.run(ask_batcher())


def together(items):
    """Asks for items at once."""

    async def ask(batcher):
        return await asyncio.gather(*map(batcher, items), return_exceptions=True)

    return ask


def work_on(calls, function=lambda item: item, seconds=0.0):
    """Work that notes the batches that it gets."""

    def work(items):
        calls.append(list(items))
        time.sleep(seconds)
        return [function(item) for item in items]

    return work


def test_items_that_come_together_share_a_call():
    calls = []
    results = run(together(range(5)), work_on(calls, lambda n: n * n))
    assert results == [0, 1, 4, 9, 16]
    assert calls == [[0, 1, 2, 3, 4]]


def test_a_call_has_at_most_so_many():
    calls = []
    run(together(range(MAX_ITEMS + 1)), work_on(calls))
    assert [len(call) for call in calls] == [MAX_ITEMS, 1]


def test_one_that_fails_fails_alone():
    results = run(together([1, 0, 2]), work_on([], lambda n: 4 // n))
    assert results[0] == 4
    assert results[2] == 2
    assert isinstance(results[1], ZeroDivisionError)


def test_one_whose_client_has_left_is_not_computed():
    calls = []

    async def ask(batcher):
        first_future, stays = batcher(1), batcher(2)
        first_future.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first_future
        return await stays

    assert run(ask, work_on(calls)) == 2
    assert calls == [[2]]


def test_a_full_batch_does_not_wait_for_a_thread():
    both = threading.Barrier(2, timeout=30)
    calls = []

    def work(items):
        calls.append(len(items))
        if len(items) == MAX_ITEMS:
            both.wait()
        return items

    items = list(range(2 * MAX_ITEMS + 3))
    assert run(together(items), work, calls=2) == items
    assert sorted(calls) == [3, MAX_ITEMS, MAX_ITEMS]


def test_one_that_fills_meanwhile_does_not_wait_for_a_thread():
    both = threading.Barrier(2, timeout=30)

    def work(items):
        both.wait()
        return items

    async def ask(batcher):
        first = batcher(0)
        await asyncio.sleep(0.05)
        return await asyncio.gather(first, *map(batcher, range(1, MAX_ITEMS + 1)))

    assert run(ask, work, seconds=0.0, calls=2) == list(range(MAX_ITEMS + 1))


@pytest.mark.parametrize(
    'coming, expected', [(0, [[0], [1], [2]]), (99, [[0], [1, 2]])]
)
def test_if_many_come_a_batch_waits_as_long_as_the_last_one_took(coming, expected):
    calls = []

    async def ask(batcher):
        await batcher(0)
        second = batcher(1)
        await asyncio.sleep(0.05)
        return await asyncio.gather(second, batcher(2))

    work = work_on(calls, seconds=0.2)
    assert run(ask, work, seconds=0.0, coming=lambda: coming) == [1, 2]
    assert calls == expected


def test_a_full_batch_makes_no_pause():
    calls = []

    async def ask(batcher):
        await batcher(0)
        began = time.monotonic()
        await asyncio.gather(*map(batcher, range(MAX_ITEMS)))
        return time.monotonic() - began

    work = work_on(calls, seconds=0.5)
    assert run(ask, work, seconds=0.0, coming=lambda: 99) < 0.9
    assert [len(call) for call in calls] == [1, MAX_ITEMS]
