"""
Lets one process at a time make or repair a file.
"""

import errno
import time
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import IO, Iterator, Optional

from parlai_q2.files.write import beside

fcntl: Optional[ModuleType]
try:
    import fcntl
except ImportError:  # Windows: there the last process to repair wins.
    fcntl = None

POLL_SECONDS = 0.05


@contextmanager
def locked(path: Path, patience: float, needed: bool = True) -> Iterator[None]:
    """
    Hold the lock of a file, waiting for whoever has it; it ends with its process.

    :param path: the file; the lock is an empty file beside it, ``<name>.lock``.
    :param patience: seconds to wait at most: whoever has it may be stopped or hang.
    :param needed: whether to go on only with the lock: some network file systems have
        none.
    :raises TimeoutError: when they are over.
    :raises OSError: when the lock cannot be made.
    """
    lock = beside(path, '.lock')
    with open(lock, 'ab') as stream:
        if fcntl is not None:
            try:
                _wait_for(stream, lock, patience)
            except OSError as e:
                if needed or isinstance(e, TimeoutError):
                    raise
        # Closing the file gives the lock back.
        yield


def _wait_for(stream: IO[bytes], lock: Path, patience: float) -> None:
    assert fcntl is not None
    until = time.monotonic() + patience
    while True:
        try:
            return fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(
                    errno.ETIMEDOUT,
                    f'another process has held {lock} for {patience:g} seconds',
                ) from None
        time.sleep(POLL_SECONDS)
