"""
Lets one process at a time write, make or repair a file.

:func:`lock` takes an open file, or says that another process has it: so a run refuses
an output that another one writes. :func:`locked` waits for its turn, with an empty file
beside the one that is made, which may not be there yet, or be a folder.
"""

import errno
import time
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Iterator

POLL_SECONDS = 0.05


def lock(stream: IO[Any], needed: bool = False) -> bool:
    """
    Hold a file for this process, until it is closed or the process ends.

    :param needed: whether it is an error where files cannot be locked: on some network
        file systems.
    :return: False when another process holds it. True also where files cannot be
        locked, and on Windows.
    :raises OSError: where they cannot be, and it is needed.
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
    Hold the lock of a file, waiting for whoever has it; it ends with its process.

    :param path: the file; the lock is an empty file beside it, ``<name>.lock``.
    :param patience: seconds to wait at most: whoever has it may be stopped or hang.
    :param needed: as :func:`lock` takes it.
    :raises TimeoutError: when they are over.
    :raises OSError: when the lock cannot be made.
    """
    beside = path.with_name(f'{path.name}.lock')
    until = time.monotonic() + patience
    # Closing the file gives the lock back.
    with open(beside, 'ab') as stream:
        while not lock(stream, needed):
            if time.monotonic() >= until:
                raise TimeoutError(
                    errno.ETIMEDOUT,
                    f'another process has held {beside} for {patience:g} seconds',
                )
            time.sleep(POLL_SECONDS)
        yield
