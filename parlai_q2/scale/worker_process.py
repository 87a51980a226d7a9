"""
A worker process, which scores the chunks that come through its pipe: what runs in it,
and what starts, feeds and stops it. It has no open files and no state that matters, so
it can be killed at any time.
"""

import errno
import multiprocessing
import os
import signal
import threading
import traceback
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Any, Iterator, Mapping, Optional

from parlai_q2.errors import ConfigError, Q2Error, is_out_of_memory
from parlai_q2.io.chunks import Chunk
from parlai_q2.scale.placement import Place, thread_settings
from parlai_q2.scale.score_chunk import MakeScorer, score_chunk
from parlai_q2.scorers.base import Scorer

# The messages of a worker: it has started, it has scored a chunk, it cannot continue.
READY, SCORED, FAILED = 'ready', 'scored', 'failed'
# The exit status of a worker that ran out of memory.
NO_MEMORY = errno.ENOMEM
# The errors of a pipe whose other end is closed.
GONE = (EOFError, BrokenPipeError, ConnectionResetError)
# Seconds to wait for a process to end.
PATIENCE = 5.0


def work(pipe: Connection, make: MakeScorer, place: Place, signature: str) -> None:
    """
    The entry point of a worker process: score chunks until the pipe closes.

    :param pipe: chunks come in; pairs of :data:`READY`, :data:`SCORED` or
        :data:`FAILED` and a value go out. The value of a failure is the message and the
        traceback; the latter is empty for a :class:`~parlai_q2.errors.Q2Error`, whose
        message says everything.
    :param make: creates the scorer; called once.
    :param signature: the signature that the scorer must have.
    """
    # Ctrl-C reaches the whole process group; only the writing process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after_parent, daemon=True).start()
    try:
        _serve(pipe, make, place, signature)
    except BaseException as e:
        if is_out_of_memory(e):
            # End as if killed by the system; another worker may have enough memory.
            os._exit(NO_MEMORY)
        told = (f'{type(e).__name__}: {e}', traceback.format_exc())
        _tell(pipe, FAILED, (str(e), '') if isinstance(e, Q2Error) else told)
    # There is nothing to clean up, and a normal exit takes seconds with torch.
    os._exit(0)


def _serve(pipe: Connection, make: MakeScorer, place: Place, signature: str) -> None:
    scorer: Optional[Scorer] = None
    _tell(pipe, READY, None)
    while (chunk := _heard(pipe)) is not None:
        if scorer is None:
            scorer = make(place.device)
            if str(scorer.signature) != signature:
                raise ConfigError(
                    f"A worker's scorer differs from the run's: {scorer.signature}, "
                    f'not {signature}. All devices must be of one kind.'
                )
        _tell(pipe, SCORED, score_chunk(chunk, scorer))


def _heard(pipe: Connection) -> Optional[Chunk]:
    try:
        return pipe.recv()
    except GONE:
        return None


def _tell(pipe: Connection, word: str, value: Any) -> None:
    # If the other end is closed, the next read will show it.
    with suppress(*GONE):
        pipe.send((word, value))


def _end_after_parent() -> None:
    """End this process as soon as the one that started it has ended, for any reason."""
    parent: Any = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class WorkerProcess:
    """A process that runs :func:`work`, and the pipe to it."""

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

    def send(self, chunk: Chunk) -> bool:
        """Send a chunk; False if the worker is dead."""
        try:
            self.pipe.send(chunk)
        except OSError:
            return False
        return True

    def receive(self) -> Optional[tuple[str, Any]]:
        """Wait for the worker's next message; None if the worker is dead."""
        try:
            return self.pipe.recv()
        except (EOFError, OSError):
            return None

    def stop(self) -> None:
        """Stop the process; :meth:`receive` then returns None."""
        self._process.terminate()

    def end(self) -> str:
        """Wait for the end of a stopped or dead process; return how it ended."""
        self.pipe.close()
        self._process.join(PATIENCE)
        for stop in (self._process.terminate, self._process.kill):
            if self._process.is_alive():
                stop()
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
    Block Ctrl-C in processes that are started in this context. It reaches the whole
    process group, and a worker ignores it only after seconds of imports.
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
    """Set environment variables for processes that are started in this context."""
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
