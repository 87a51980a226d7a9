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
    Collects items, and has a thread handle them together. While one batch is computed,
    the next one fills.

    :param run: takes items and returns a result for each, in order. If it fails, it is
        called again for each item alone, so that one cannot spoil the others.
    :param thread: where it runs; one thread, if models are to run one at a time.
    :param seconds: how long the first item of a batch waits for others.
    """

    def __init__(
        self,
        run: Callable[[Sequence[Item]], Sequence[Result]],
        thread: Executor,
        seconds: float,
    ):
        self._run, self._thread, self._seconds = run, thread, seconds
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
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
            batch = self._waiting[:MAX_ITEMS]
            del self._waiting[:MAX_ITEMS]
            # Of a client that has left.
            batch = [(item, future) for item, future in batch if not future.done()]
            if batch:
                await self._handle(batch)

    async def _handle(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        loop = asyncio.get_running_loop()
        items = [item for item, _ in batch]
        try:
            results = await loop.run_in_executor(self._thread, self._run, items)
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
