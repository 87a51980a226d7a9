"""
What a worker process does: score the chunks that come through its pipe.

It holds no file and no state that matters, so it can be killed at any moment. When the
process that started it is gone it stops too.
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
from parlai_q2.files.chunks import Chunk
from parlai_q2.scale.placement import Place, use_threads
from parlai_q2.scale.score_chunk import MakeScorer, checked, score_chunk
from parlai_q2.scorers.base import Scorer

# What a worker says: that it has started, that this is a scored chunk, or why it cannot
# go on.
READY, SCORED, FAILED = 'ready', 'scored', 'failed'
# The exit status of a worker that ran out of memory: the errno of that.
NO_MEMORY = errno.ENOMEM
# What a pipe raises when nobody is at its other end any more.
GONE = (EOFError, BrokenPipeError, ConnectionResetError)


def work(pipe: Connection, make: MakeScorer, place: Place, signature: str) -> None:
    """
    Score chunks until None comes; the entry point of a worker process.

    :param pipe: chunks come in; pairs of :data:`READY`, :data:`SCORED` or
        :data:`FAILED` and a value go out.
    :param make: makes the scorer; called once.
    :param place: device and threads.
    :param signature: what the scorer must say of itself.
    """
    # Ctrl-C reaches the whole group; the process that writes the file decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    use_threads(place.threads)
    try:
        _serve(pipe, make, place, signature)
    except BaseException as e:
        if is_out_of_memory(e):
            # As if the system had ended it: another worker may have room for the chunk.
            os._exit(NO_MEMORY)
        _tell(pipe, FAILED, reason(e))
    # There is nothing to tidy up, and with torch that takes seconds.
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
    # Where nobody listens any more, nothing more will be heard either.
    with suppress(*GONE):
        pipe.send((word, value))


def reason(error: BaseException) -> tuple[str, str]:
    """
    What :data:`FAILED` goes with: what is wrong, and where, unless that was raised on
    purpose and says all.
    """
    if isinstance(error, Q2Error):
        return str(error), ''
    return f'{type(error).__name__}: {error}', traceback.format_exc()


def end_with_parent() -> None:
    """
    Let this process end as soon as the one that started it has ended, however it did.
    """
    threading.Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent: Any = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
