"""
A worker process, as the process that started it sees it.
"""

import multiprocessing
import os
import signal
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any, Iterator, Mapping, Optional

from parlai_q2.scale.placement import Place, thread_settings
from parlai_q2.scale.score_chunk import MakeScorer
from parlai_q2.scale.worker import NO_MEMORY, work

# Seconds that a process has to end by itself.
PATIENCE = 5.0


class WorkerProcess:
    """
    A process that runs :func:`~parlai_q2.scale.worker.work`, and the pipe to it.

    :param make: makes its scorer.
    :param place: its device and threads.
    :param signature: what its scorer must say of itself.
    """

    def __init__(self, make: MakeScorer, place: Place, signature: str):
        self.place = place
        # Never fork: a process that has used torch's threads or a GPU cannot be.
        context = multiprocessing.get_context('spawn')
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, make, place, signature), daemon=True
        )
        with environment(thread_settings(place.threads)), without_interrupts():
            self._process.start()
        # The worker has the only copy now: when it dies the pipe ends.
        theirs.close()

    def send(self, value: Any) -> bool:
        """
        Send a chunk, or None when there is no more.

        :return: False when the worker is dead.
        """
        try:
            self.pipe.send(value)
        except OSError:
            return False
        return True

    def receive(self) -> Optional[tuple[str, Any]]:
        """
        What it has to say; waits for it. None when it is dead.
        """
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def dismiss(self) -> None:
        """
        Tell the worker that there is no more, without waiting for it.
        """
        self.pipe.close()

    def end(self, at_once: bool = False) -> str:
        """
        End the process, if it has not ended.

        :param at_once: whatever it does; else it may end by itself first.
        :return: how it ended, for messages.
        """
        self.pipe.close()
        if not at_once:
            self._process.join(PATIENCE)
        for harder in (self._process.terminate, self._process.kill):
            if self._process.is_alive():
                harder()
                self._process.join(PATIENCE)
        code = self._process.exitcode
        if code is not None and code < 0:
            return f'by {signal.Signals(-code).name}'
        if code == NO_MEMORY:
            return 'out of memory'
        return f'with exit code {code}'


@contextmanager
def without_interrupts() -> Iterator[None]:
    """
    Processes that are started within do not hear Ctrl-C, which reaches the whole group.

    A worker ignores it, but takes seconds of imports to get there.
    """
    if not hasattr(signal, 'pthread_sigmask'):  # Windows
        yield
        return
    # Python starts this helper with the first process, and lets signals through again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """
    Environment variables for the processes that are started within.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
