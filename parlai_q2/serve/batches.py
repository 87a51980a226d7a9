"""
Lets requests that come at about the same time share a call, such as one of a model.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import Any, Generic, TypeVar

Item = TypeVar('Item')
Result = TypeVar('Result')
MAX_ITEMS = 32


class Batcher(Generic[Item, Result]):
    """
    Collects items, and has threads handle them together. While one batch is computed,
    the next one fills; one that is full need not wait, if another thread is free.

    :param run: takes items and returns a result for each, in order. If it fails, it is
        called again for each item alone, so that one cannot spoil the others.
    :param threads: where it runs.
    :param seconds: how long the first item of a batch waits for others.
    :param calls: how many batches are computed at once, at most.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        threads: Executor,
        seconds: float,
        calls: int = 1,
    ):
        self._run, self._threads, self._seconds = run, threads, seconds
        self._calls = calls
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: set[asyncio.Task[Any]] = set()
        self._task: asyncio.Task[Any] | None = None

    def __call__(self, item: Item) -> Awaitable[Result]:
        """Have an item handled; the result can be awaited."""
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._work())
        return future

    async def _work(self) -> None:
        await asyncio.sleep(self._seconds)
        while self._waiting:
            most = self._calls if len(self._waiting) >= MAX_ITEMS else 1
            if len(self._running) >= most:
                await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
                continue
            batch = self._waiting[:MAX_ITEMS]
            del self._waiting[:MAX_ITEMS]
            # Of a client that has left.
            batch = [(item, future) for item, future in batch if not future.done()]
            if batch:
                task = asyncio.ensure_future(self._handle(batch))
                self._running.add(task)
                task.add_done_callback(self._running.discard)

    async def _handle(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        loop = asyncio.get_running_loop()
        items = [item for item, _ in batch]
        try:
            results = await loop.run_in_executor(self._threads, self._run, items)
        except Exception as error:
            if len(batch) > 1:
                for pair in batch:
                    await self._handle([pair])
            elif not batch[0][1].done():
                batch[0][1].set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
