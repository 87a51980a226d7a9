"""
Lets requests that come at about the same time share a call, such as one of a model.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from typing import Any, Generic, TypeVar

Item = TypeVar('Item')
Result = TypeVar('Result')
# With fewer items, models take longer for each; with more, hardly any less, and all
# items wait for the last one.
MAX_ITEMS = 8


class Batcher(Generic[Item, Result]):
    """
    Collects items, and has threads handle them together. While one batch is computed,
    the next one fills; one that is full need not wait, if another thread is free.

    If many items will come soon, a batch that is not full begins no sooner after the
    last one than that took: on a machine that is busy, full batches are worth waiting
    for.

    :param run: takes items and returns a result for each, in order. If it fails, it is
        called again for each item alone, so that one cannot spoil the others.
    :param threads: where it runs.
    :param seconds: how long the first item of a batch waits for others.
    :param calls: how many batches are computed at once, at most.
    :param coming: returns how many items may come soon.
    :param max_items: the most items of a batch.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        threads: Executor,
        seconds: float,
        calls: int = 1,
        coming: Callable[[], int] = lambda: 0,
        max_items: int = MAX_ITEMS,
    ):
        self._run, self._threads, self._seconds = run, threads, seconds
        self._calls, self._coming, self._max_items = calls, coming, max_items
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: set[asyncio.Task[Any]] = set()
        self._task: asyncio.Task[Any] | None = None
        self._pause_end = 0.0
        # Set when an item came or a batch ended.
        self._changed = asyncio.Event()

    def __call__(self, item: Item) -> Awaitable[Result]:
        """Have an item handled; the result can be awaited."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        self._changed.set()
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._work())
        return future

    async def _work(self) -> None:
        await asyncio.sleep(self._seconds)
        while self._waiting:
            self._changed.clear()
            seconds = self._seconds_to_wait()
            if seconds is None or seconds > 0:
                with suppress(TimeoutError, asyncio.TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), seconds)
                continue
            batch = self._waiting[: self._max_items]
            del self._waiting[: self._max_items]
            # Of a client that has left.
            batch = [(item, future) for item, future in batch if not future.done()]
            if batch:
                task = asyncio.ensure_future(self._handle(batch))
                self._running.add(task)
                task.add_done_callback(self._end)

    def _seconds_to_wait(self) -> float | None:
        """How long the next batch waits for more items; None: until one has ended."""
        is_full = len(self._waiting) >= self._max_items
        if len(self._running) >= (self._calls if is_full else 1):
            return None
        if is_full or self._coming() < self._max_items:
            return 0.0
        return self._pause_end - time.monotonic()

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._changed.set()

    async def _handle(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        loop = asyncio.get_running_loop()
        items = [item for item, _ in batch]
        began = time.monotonic()
        try:
            results = await loop.run_in_executor(self._threads, self._run, items)
        except Exception as error:
            if len(batch) > 1:
                for item, future in batch:
                    if not future.done():
                        await self._handle([(item, future)])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        finally:
            ended = time.monotonic()
            self._pause_end = 2 * ended - began
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
