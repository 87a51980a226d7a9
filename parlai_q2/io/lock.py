"""
File locks: only one process at a time may write, create or repair a file.

:func:`lock` locks an open file, or reports at once that another process holds it; a run
uses it to refuse an output that another run is writing. :func:`locked` waits for its
turn. It locks an empty file in the same folder, since its target may not exist yet or
may be a folder.
"""

import errno
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterator

from parlai_q2.io.beside import beside

POLL_SECONDS = 0.05


def lock(stream: IO[Any], needed: bool = False) -> bool:
    """
    Lock a file for this process, until it is closed or the process ends.

    :param stream: the open file.
    :param needed: raise an error if the file system does not support locks, as is the
        case for some network file systems.
    :return: False if another process holds the lock. True also on Windows and, unless
        ``needed``, on a file system without locks.
    :raises OSError: if ``needed`` and the file system does not support locks.
    """
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        if needed:
            raise
    return True


@contextmanager
def locked(path: Path, patience: float, needed: bool = True) -> Iterator[None]:
    """
    Hold the lock of a file, waiting for other processes; it ends with its process.

    :param path: the file. The lock is an empty file in its folder, ``<name>.lock``.
    :param patience: the maximum seconds to wait, as the other process may hang.
    :param needed: as for :func:`lock`.
    :raises TimeoutError: if the lock is still held after that time.
    :raises OSError: if the lock cannot be created.
    """
    place = beside(path, '.lock')
    until = time.monotonic() + patience
    # Closing the file releases the lock.
    with open(place, 'ab') as stream:
        while not lock(stream, needed):
            if time.monotonic() >= until:
                raise TimeoutError(
                    errno.ETIMEDOUT,
                    f'another process has held {place} for {patience:g} seconds',
                )
            time.sleep(POLL_SECONDS)
        yield
