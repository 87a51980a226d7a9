"""
The code of a worker process, which scores the chunks that come through its pipe.

A worker has no open files and no state that matters, so it can be killed at any time.
It stops when the process that started it has ended.
"""

import errno
import multiprocessing
import os
import signal
import threading
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Optional

from parlai_q2.errors import Q2Error, is_out_of_memory
from parlai_q2.io.chunks import Chunk
from parlai_q2.scale.placement import Place, use_threads
from parlai_q2.scale.score_chunk import MakeScorer, checked, score_chunk
from parlai_q2.scorers.base import Scorer

# The messages of a worker: it has started, it has scored a chunk, it cannot continue.
READY, SCORED, FAILED = 'ready', 'scored', 'failed'
# The exit status of a worker that ran out of memory.
NO_MEMORY = errno.ENOMEM
# The errors of a pipe whose other end is closed.
GONE = (EOFError, BrokenPipeError, ConnectionResetError)


def work(pipe: Connection, make: MakeScorer, place: Place, signature: str) -> None:
    """
    The entry point of a worker process: score chunks until None comes or the pipe
    closes.

    :param pipe: chunks come in; pairs of :data:`READY`, :data:`SCORED` or
        :data:`FAILED` and a value go out.
    :param make: creates the scorer; called once.
    :param place: device and threads.
    :param signature: the signature that the scorer must have.
    """
    # Ctrl-C reaches the whole process group; only the writing process handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    use_threads(place.threads)
    try:
        _serve(pipe, make, place, signature)
    except BaseException as e:
        if is_out_of_memory(e):
            # End as if killed by the system; another worker may have enough memory.
            os._exit(NO_MEMORY)
        _tell(pipe, FAILED, reason(e))
    # There is nothing to clean up, and a normal exit takes seconds with torch.
    os._exit(0)


def _serve(pipe: Connection, make: MakeScorer, place: Place, signature: str) -> None:
    scorer: Optional[Scorer] = None
    _tell(pipe, READY, None)
    while (chunk := _heard(pipe)) is not None:
        scorer = scorer or checked(make, place.device, signature)
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


def reason(error: BaseException) -> tuple[str, str]:
    """
    The value to send with :data:`FAILED`.

    :param error: the error that ended the work.
    :return: the message, and the traceback; the latter is empty for a
        :class:`~parlai_q2.errors.Q2Error`, whose message says everything.
    """
    if isinstance(error, Q2Error):
        return str(error), ''
    return f'{type(error).__name__}: {error}', traceback.format_exc()


def end_with_parent() -> None:
    """
    Make this process end as soon as the one that started it has ended, for any reason.
    """
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
