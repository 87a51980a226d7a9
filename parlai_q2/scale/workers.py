"""
Scores chunks in worker processes on this machine; results come out in order.

A worker that dies is replaced and its chunk scored again, so nothing is lost or
duplicated. A chunk that kills several workers ends the run.
"""

import logging
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from queue import LifoQueue
from threading import Lock
from typing import Generator, Iterator, Optional, Sequence

from parlai_q2.errors import WorkerError
from parlai_q2.io.chunks import Chunk
from parlai_q2.scale.placement import Place
from parlai_q2.scale.score_chunk import Engine, MakeScorer, ScoredChunk
from parlai_q2.scale.worker_process import FAILED, WorkerProcess

logger = logging.getLogger(__name__)

# The run ends if this many workers die on one chunk, or in a row before they start.
MAX_DEATHS = 3
# Chunks per worker that may be read but not yet written: one being scored, and enough
# others that a slow chunk at the front does not leave the other workers idle.
AHEAD = 4
# The end of a thread of a run that was stopped; nobody sees it.
STOPPED = 'The run was stopped.'


def in_workers(make: MakeScorer, where: Sequence[Place], signature: str) -> Engine:
    """
    The engine that scores in several processes. It starts them when they are needed,
    and stops them when it finishes, is closed or raises an error.

    :param make: creates a worker's scorer; must be picklable.
    :param where: a place for each worker.
    :param signature: the signature that each worker's scorer must have.
    :raises WorkerError: if :data:`MAX_DEATHS` workers die on a chunk, workers do not
        start, or a worker cannot continue.
    """

    def engine(chunks: Iterator[Chunk]) -> Generator[ScoredChunk, None, None]:
        workers = [Worker(make, place, signature) for place in where]
        # The last one that was put back comes first: it has loaded its model.
        free: LifoQueue[Worker] = LifoQueue()
        for worker in reversed(workers):
            free.put(worker)

        def score(chunk: Chunk) -> ScoredChunk:
            worker = free.get()
            try:
                return worker.score(chunk)
            finally:
                free.put(worker)

        threads = ThreadPoolExecutor(len(where))
        ahead: deque[Future[ScoredChunk]] = deque()
        try:
            while True:
                waiting = [future for future in ahead if not future.done()]
                # Even if all workers are busy, keep one chunk ready.
                while len(ahead) < AHEAD * len(where) and len(waiting) <= len(where):
                    chunk = next(chunks, None)
                    if chunk is None:
                        break
                    ahead.append(threads.submit(score, chunk))
                    waiting.append(ahead[-1])
                if not ahead:
                    return
                if ahead[0].done():
                    yield ahead.popleft().result()
                else:
                    wait(waiting, return_when=FIRST_COMPLETED)
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
            for worker in workers:
                worker.stop()
            threads.shutdown()
            for worker in workers:
                worker.join()

    return engine


class Worker:
    """
    One worker of a run, a process that is started when it is needed and replaced when
    it dies; parameters as for :func:`in_workers`.
    """

    # Processes start one at a time: each is given its environment by this one's.
    _starting = Lock()

    def __init__(self, make: MakeScorer, place: Place, signature: str):
        self._make, self._place, self._signature = make, place, signature
        self._process: Optional[WorkerProcess] = None
        self._stopped = False

    def score(self, chunk: Chunk) -> ScoredChunk:
        """Score a chunk, by a new process if one dies of it."""
        for deaths in range(1, MAX_DEATHS + 1):
            process = self._started()
            answer = process.receive() if process.send(chunk) else None
            if answer is not None:
                kind, value = answer
                if kind != FAILED:
                    return value
                message, trace = value
                if trace:
                    logger.error('A worker process failed:\n%s', trace)
                raise WorkerError(message)
            ending = self._clear(process)
            if deaths < MAX_DEATHS:
                logger.warning(
                    'A worker process ended %s. Lines %s of the input are being '
                    'scored again.',
                    ending,
                    chunk.lines,
                )
        raise WorkerError(
            f'{MAX_DEATHS} worker processes died while scoring lines {chunk.lines} of '
            f'the input, the last {ending}. A killed process has often run out of '
            'memory: use fewer --workers or a smaller --chunk-size. Earlier scores '
            'are kept: run the same command again to continue.'
        )

    def _started(self) -> WorkerProcess:
        if self._process is not None:
            return self._process
        for _ in range(MAX_DEATHS):
            with self._starting:
                if self._stopped:
                    raise WorkerError(STOPPED)
                process = WorkerProcess(self._make, self._place, self._signature)
                self._process = process
            # It says that it has started.
            if process.receive() is not None:
                return process
            ending = self._clear(process)
        raise WorkerError(
            f'{MAX_DEATHS} worker processes in a row ended before they could start, '
            f'the last {ending}. A killed process has often run out of memory: use '
            'fewer --workers. A script that asks for workers must be a file and must '
            'do so below "if __name__ == \'__main__\':".'
        )

    def _clear(self, process: WorkerProcess) -> str:
        """Clear up after a process that has died, and return how it ended."""
        self._process = None
        ending = process.end()
        if self._stopped:
            raise WorkerError(STOPPED)
        return ending

    def stop(self) -> None:
        """End the process, even if it is scoring; no other is started."""
        with self._starting:
            self._stopped = True
            if self._process is not None:
                self._process.stop()

    def join(self) -> None:
        """Wait for the end of a stopped process that was not scoring."""
        if self._process is not None:
            self._process.end()
