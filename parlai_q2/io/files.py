"""
Files by path or by URL, the standard input, folders of shards with their manifest, and
small helpers: names beside another, checksums, locks, the cache folder.

fsspec and the packages installed for it read URLs (``s3://…``, ``gs://…``,
``memory://…``). A URL has the few methods of a path that readers use.
"""

import errno
import glob as globbing
import hashlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from filelock import FileLock, Timeout

from parlai_q2.errors import ConfigError, InputError, MissingPackageError
from parlai_q2.json_values import JsonObject

POLL_SECONDS = 0.05
# The name of the standard input.
STDIN = ('-', '/dev/stdin')
_LOCAL = re.compile('^(?:file|local)://')
# Properties that may show that a remote file has changed; stores have some of them.
STATES = (
    'mtime',
    'LastModified',
    'last_modified',
    'updated',
    'created',
    'ETag',
    'etag',
)
MANIFEST = 'manifest.json'
# The ending of the summary that a run leaves beside its output.
META = '.meta.json'


def beside(path: Path, ending: str) -> Path:
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
    The reason why a file cannot be used, in the system's words, which libraries for
    remote stores often omit.

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


def create_lock(path: Path) -> FileLock:
    """The lock of a file or folder, an empty file beside it; ends with its holder."""
    return FileLock(beside(path, '.lock'))


@contextmanager
def locked(path: Path, patience: float, needed: bool = True) -> Iterator[None]:
    """
    Hold the lock of a file, waiting at most ``patience`` seconds for other processes.
    On a file system without locks, go on without one unless it is ``needed``.
    """
    lock = create_lock(path)
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


@dataclass(frozen=True)
class Remote:
    """A file that fsspec reaches, by its URL."""

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.url).suffix

    def __truediv__(self, name: str) -> 'Remote':
        return Remote(f'{self.url.rstrip("/")}/{name}')

    def resolve(self) -> 'Remote':
        """The address in its only form: ``memory://a`` and ``memory:///a`` are one."""
        system, path = self._system()
        return Remote(system.unstrip_protocol(path))

    def exists(self) -> bool:
        return bool(self._call('exists'))

    def is_file(self) -> bool:
        return bool(self._call('isfile'))

    def is_dir(self) -> bool:
        return bool(self._call('isdir'))

    def open(self, mode: str = 'rb') -> io.BufferedReader:
        system, path = self._system()
        return io.BufferedReader(system.open(path, mode))

    def state(self) -> JsonObject:
        """Its size, and other properties that may show that it has changed."""
        info = self._call('info')
        states = [f'{name} {info[name]}' for name in STATES if name in info]
        return {'size': info['size'], 'modified': '; '.join(states)}

    def upload(self, local: Path) -> None:
        """Upload a local file, completely or not at all if the store allows that."""
        system, path = self._system()
        system.makedirs(system._parent(path), exist_ok=True)
        system.put_file(str(local), path)

    def glob(self) -> list['Remote']:
        system, path = self._system()
        return [
            Remote(system.unstrip_protocol(name)) for name in sorted(system.glob(path))
        ]

    def _call(self, name: str) -> Any:
        system, path = self._system()
        return getattr(system, name)(path)

    def _system(self) -> tuple[Any, str]:
        import fsspec

        scheme = self.url.partition('://')[0]
        try:
            resolved: tuple[Any, str] = fsspec.core.url_to_fs(self.url)
            return resolved
        except ImportError as e:
            raise MissingPackageError(f'{self.url} cannot be reached: {e}') from e
        except ValueError as e:
            raise ConfigError(f'{self.url}: {e}. Did you mean {scheme}://?') from e


@dataclass(frozen=True)
class Stdin:
    """
    The standard input, as JSON lines unless another format is given. It is read once.

    :param opened: a time, which distinguishes it from the input of any other run.
    """

    opened: int = field(default_factory=time.time_ns)
    name: ClassVar[str] = 'stdin'
    suffix: ClassVar[str] = '.jsonl'

    def __str__(self) -> str:
        return 'the standard input'

    def resolve(self) -> 'Stdin':
        return self

    def exists(self) -> bool:
        return True

    is_file = exists

    def is_dir(self) -> bool:
        return False

    def open(self, mode: str = 'rb') -> io.BufferedReader:
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))

    def state(self) -> JsonObject:
        return {'size': 0, 'modified': self.opened}


Location = Path | Remote | Stdin


def locate(name: str | Location) -> Location:
    """
    The file of a path or a URL; ``file://`` and ``local://`` are paths, ``-`` is the
    standard input.
    """
    if not isinstance(name, str):
        return name
    if name in STDIN:
        return Stdin()
    name = _LOCAL.sub('', name)
    return Remote(name) if '://' in name else Path(name)


def read_state(infile: Location) -> JsonObject:
    """The state of a file, from which a change can be recognised."""
    if not isinstance(infile, Path):
        return infile.state()
    state = infile.stat()
    return {'size': state.st_size, 'modified': state.st_mtime_ns}


def expand_pattern(pattern: str) -> list[Location]:
    """
    The files of a pattern (``in/*.jsonl``), sorted by name; or of a name, just that.
    """
    place = locate(pattern)
    if not globbing.has_magic(pattern) or (isinstance(place, Path) and place.exists()):
        return [place]
    if isinstance(place, Remote):
        paths: list[Location] = [*place.glob()]
    else:
        names = sorted(globbing.glob(str(place), recursive=True))
        paths = [Path(name) for name in names]
    files = [path for path in paths if not path.is_dir()]
    if not files:
        raise InputError(f'No file matches {pattern}. Check --infile.')
    return files


def shards_in(folder: Location) -> Sequence[Location]:
    """
    The files of a sharded output that have records, after a check by its manifest.
    """
    assert not isinstance(folder, Stdin), 'it is no folder'
    try:
        with (folder / MANIFEST).open('rb') as stream:
            manifest = json.load(stream)
        shards = [shard for shard in manifest['shards'] if shard['records']]
        entries = [(folder / shard['file'], shard['bytes']) for shard in shards]
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise InputError(
            f'{folder} has no readable {MANIFEST}, so the run that wrote it is not '
            'complete. Run the same command again.'
        ) from e
    if not entries:
        raise InputError(f'{folder} holds no record, as its {MANIFEST} says.')
    for path, size in entries:
        if not path.is_file() or read_state(path)['size'] != size:
            raise InputError(
                f'{path} is not the file that {MANIFEST} lists. Run the same command '
                'that wrote it again.'
            )
    return [path for path, _ in entries]


def records_in(path: Location) -> int | None:
    """
    The number of records in a file or folder, by a run's summary; None if unknown.
    """
    if isinstance(path, Stdin):
        return None
    summary: Location
    summary = path / MANIFEST if path.is_dir() else locate(f'{path}{META}')
    try:
        with summary.open('rb') as stream:
            counts = json.load(stream)
        return int(counts.get('records', counts.get('pools')))
    except (OSError, ValueError, TypeError, AttributeError):
        return None
