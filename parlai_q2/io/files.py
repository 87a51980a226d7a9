"""Small helpers for files: names beside another, checksums, locks, the cache folder."""

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

POLL_SECONDS = 0.05


def beside(path: Path, ending: str) -> Path:
    """The path with an ending added to the file's name."""
    return path.with_name(path.name + ending)


def file_sha256(path: str | Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with open(path, 'rb') as stream:
        for block in iter(lambda: stream.read(1 << 20), b''):
            digest.update(block)
    return digest.hexdigest()


def explain(error: OSError) -> str:
    """
    Why a file cannot be used, in the system's words; libraries for remote stores often
    give none.

    >>> explain(FileNotFoundError('bucket/a.jsonl'))
    'No such file or directory'
    """
    if error.strerror:
        return error.strerror
    if isinstance(error, FileNotFoundError):
        return os.strerror(errno.ENOENT)
    return str(error) or type(error).__name__


def cache_folder() -> Path:
    """
    The folder for files that can be created again, which may not exist: ``parlai_q2``
    in ``$XDG_CACHE_HOME``, else in ``~/.cache``, or in ``.cache`` of the current folder
    for a user without a home.
    """
    # According to the XDG specification, an empty or relative value counts as unset.
    cache = Path(os.environ.get('XDG_CACHE_HOME') or '')
    if not cache.is_absolute():
        # expanduser leaves the tilde if it finds no home; do not use it as a name.
        home = os.path.expanduser('~')
        cache = Path(os.getcwd() if home == '~' else home) / '.cache'
    return cache / 'parlai_q2'


def lock_of(path: Path) -> FileLock:
    """The lock of a file or folder, an empty file beside it; ends with its holder."""
    return FileLock(beside(path, '.lock'))


@contextmanager
def locked(path: Path, patience: float, needed: bool = True) -> Iterator[None]:
    """
    Hold the lock of a file, waiting for other processes.

    :param patience: the maximum seconds to wait, as the other process may hang.
    :param needed: if False, a file system without locks is worked on without one.
    :raises TimeoutError: if the lock is still held after that time.
    :raises OSError: if the lock cannot be created.
    """
    lock = lock_of(path)
    try:
        lock.acquire(timeout=patience, poll_interval=POLL_SECONDS)
    except Timeout:
        raise TimeoutError(
            errno.ETIMEDOUT,
            f'another process has held {lock.lock_file} for {patience:g} seconds',
        ) from None
    except OSError as e:
        if needed or e.errno != errno.ENOLCK:
            raise
    try:
        yield
    finally:
        lock.release()
