"""
Scores chunks in worker processes on this machine; results come out in order.

Each worker has one chunk at a time. If a worker dies, another one gets its chunk and
the worker is replaced. Each result is counted once, so nothing is lost or duplicated. A
chunk that kills several workers ends the run, with an error that names its lines.
"""

import logging
from collections import deque
from multiprocessing import connection
from typing import Generator, Iterator, NamedTuple, Sequence

from parlai_q2.errors import WorkerError
from parlai_q2.io.chunks import Chunk
from parlai_q2.scale.placement import Place
from parlai_q2.scale.score_chunk import Engine, MakeScorer, ScoredChunk
from parlai_q2.scale.worker_process import FAILED, READY, WorkerProcess

logger = logging.getLogger(__name__)

# The run ends if this many workers die on one chunk, or in a row before they start.
MAX_DEATHS = 3
# Chunks per worker that may be read but not yet written: one being scored, and enough
# others that a slow chunk at the front does not leave the other workers idle.
AHEAD = 4


def in_workers(make: MakeScorer, where: Sequence[Place], signature: str) -> Engine:
    """
    The engine that scores in several processes. It starts them when the first result is
    requested, and stops them when it finishes, is closed or raises an error.

    :param make: creates a worker's scorer; must be picklable.
    :param where: a place for each worker.
    :param signature: the signature that each worker's scorer must have.
    :raises WorkerError: if :data:`MAX_DEATHS` workers die on a chunk, workers do not
        start, or a worker cannot continue.
    """

    def engine(chunks: Iterator[Chunk]) -> Generator[ScoredChunk, None, None]:
        workers = Workers(make, where, signature)
        try:
            yield from workers.run(chunks)
        finally:
            workers.stop()

    return engine


class Task(NamedTuple):
    """A chunk to score, and how many workers have died on it."""

    chunk: Chunk
    deaths: int = 0


class Workers:
    """The workers of one run; parameters as for :func:`in_workers`."""

    def __init__(self, make: MakeScorer, where: Sequence[Place], signature: str):
        self._make, self._signature = make, signature
        # Places without a worker, and the workers by their pipes: those that are
        # starting, those without work, and those with a task.
        self._places = deque(where)
        self._starting: dict[connection.Connection, WorkerProcess] = {}
        self._idle: dict[connection.Connection, WorkerProcess] = {}
        self._busy: dict[connection.Connection, tuple[WorkerProcess, Task]] = {}
        self._failed_starts = 0
        # Tasks to do, results that are done, and the most chunks under way at a time.
        self._tasks: deque[Task] = deque()
        self._done: dict[int, ScoredChunk] = {}
        self._most = AHEAD * len(where)

    def run(self, chunks: Iterator[Chunk]) -> Iterator[ScoredChunk]:
        """Score chunks, in order, reading only as far ahead as :data:`AHEAD` allows."""
        order: deque[int] = deque()
        while True:
            while len(order) < self._most and len(self._tasks) < self._free():
                chunk = next(chunks, None)
                if chunk is None:
                    break
                order.append(chunk.number)
                self._tasks.append(Task(chunk))
            self._hand_out()
            if not order:
                return
            if order[0] in self._done:
                yield self._done.pop(order.popleft())
            else:
                self._wait()

    def stop(self) -> None:
        """Stop all workers, including those that are scoring."""
        waiting = [*self._starting.values(), *self._idle.values()]
        busy = [worker for worker, _ in self._busy.values()]
        self._starting, self._idle, self._busy = {}, {}, {}
        for worker in waiting:
            worker.pipe.close()
        for worker in busy:
            worker.end(at_once=True)
        for worker in waiting:
            worker.end()

    def _free(self) -> int:
        # Even if all workers are busy, keep one chunk ready.
        return max(1, len(self._places) + len(self._starting) + len(self._idle))

    def _hand_out(self) -> None:
        while self._idle and self._tasks:
            pipe, worker = self._idle.popitem()
            task = self._tasks.popleft()
            self._busy[pipe] = worker, task
            if not worker.send(task.chunk):
                self._replace(pipe)
        while self._places and len(self._starting) < len(self._tasks):
            place = self._places.popleft()
            worker = WorkerProcess(self._make, place, self._signature)
            self._starting[worker.pipe] = worker

    def _wait(self) -> None:
        for pipe in connection.wait([*self._starting, *self._idle, *self._busy]):
            assert isinstance(pipe, connection.Connection)
            worker = self._worker(pipe)
            answer = worker.receive()
            if answer is None:
                self._replace(pipe)
                continue
            kind, value = answer
            if kind == FAILED:
                message, trace = value
                if trace:
                    logger.error('A worker process failed:\n%s', trace)
                raise WorkerError(message)
            if kind == READY:
                self._failed_starts = 0
                del self._starting[pipe]
            else:
                del self._busy[pipe]
                self._done[value.number] = value
            self._idle[pipe] = worker

    def _worker(self, pipe: connection.Connection) -> WorkerProcess:
        if pipe in self._busy:
            return self._busy[pipe][0]
        return self._idle.get(pipe) or self._starting[pipe]

    def _replace(self, pipe: connection.Connection) -> None:
        """Free the place of a worker that has died, and give its chunk to another."""
        worker = self._worker(pipe)
        ending = worker.end()
        self._places.append(worker.place)
        if self._starting.pop(pipe, None):
            self._failed_starts += 1
            if self._failed_starts >= MAX_DEATHS:
                raise WorkerError(
                    f'{MAX_DEATHS} worker processes in a row ended before they '
                    f'could start, the last {ending}. A killed process has often '
                    'run out of memory: use fewer --workers. A script that asks '
                    'for workers must be a file and must do so below "if __name__ '
                    "== '__main__':\"."
                )
        elif self._idle.pop(pipe, None) is None:
            _, task = self._busy.pop(pipe)
            self._do_again(task, ending)

    def _do_again(self, task: Task, ending: str) -> None:
        task = Task(task.chunk, task.deaths + 1)
        if task.deaths >= MAX_DEATHS:
            raise WorkerError(
                f'{task.deaths} worker processes died while scoring lines '
                f'{task.chunk.lines} of the input, the last {ending}. A killed '
                'process has often run out of memory: use fewer --workers or a '
                'smaller --chunk-size. Earlier scores are kept: run the same '
                'command again to continue.'
            )
        logger.warning(
            'A worker process ended %s. Lines %s of the input are being scored again.',
            ending,
            task.chunk.lines,
        )
        self._tasks.appendleft(task)
