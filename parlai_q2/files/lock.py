"""
Lets one process at a time make or repair a file.
"""

from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Iterator, Optional

from parlai_q2.files.write import beside

fcntl: Optional[ModuleType]
try:
    import fcntl
except ImportError:  # Windows: there the last process to repair wins.
    fcntl = None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """
    Hold the lock of a file, waiting for whoever has it; it ends with its process.

    :param path: the file; the lock is an empty file beside it, ``<name>.lock``.
    :raises OSError: when the lock cannot be made.
    """
    with open(beside(path, '.lock'), 'ab') as stream:
        if fcntl is not None:
            fcntl.flock(stream, fcntl.LOCK_EX)
        # Closing the file gives the lock back.
        yield
