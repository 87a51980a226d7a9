"""
Starts, talks to and stops a worker process.
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

# Seconds to wait for a process to end.
PATIENCE = 5.0


class WorkerProcess:
    """
    A process that runs :func:`~parlai_q2.scale.worker.work`, and the pipe to it.

    :param make: creates the worker's scorer.
    :param place: its device and threads.
    :param signature: the signature that its scorer must have.
    """

    def __init__(self, make: MakeScorer, place: Place, signature: str):
        self.place = place
        # Never fork: it is not safe once a process has used torch's threads or a GPU.
        context = multiprocessing.get_context('spawn')
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work, args=(theirs, make, place, signature), daemon=True
        )
        with environment(thread_settings(place.threads)), without_interrupts():
            self._process.start()
        # The worker now has the only copy, so the pipe closes when it dies.
        theirs.close()

    def send(self, value: Any) -> bool:
        """
        Send a chunk, or None to say that there are no more.

        :return: False if the worker is dead.
        """
        try:
            self.pipe.send(value)
        except OSError:
            return False
        return True

    def receive(self) -> Optional[tuple[str, Any]]:
        """
        Wait for the worker's next message and return it; None if the worker is dead.
        """
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def dismiss(self) -> None:
        """
        Tell the worker that there are no more chunks, without waiting for it to end.
        """
        self.pipe.close()

    def end(self, at_once: bool = False) -> str:
        """
        Stop the process, if it is still running.

        :param at_once: terminate it now; otherwise give it time to end by itself.
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
    Block Ctrl-C, which reaches the whole process group, in processes that are started
    in this context.

    A worker ignores Ctrl-C itself, but only after seconds of imports.
    """
    if not hasattr(signal, 'pthread_sigmask'):  # Windows
        yield
        return
    # Start Python's resource tracker now: it would be started with the first process,
    # which unblocks signals again.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    """
    Set environment variables for processes that are started in this context.
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
