"""
Files by path or by URL, and the standard input. fsspec and the packages installed for
it read URLs (``s3://…``, ``gs://…``, ``memory://…``). A URL has the few methods of a
path that readers use.
"""

import glob as globbing
import io
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from parlai_q2.errors import ConfigError, InputError, MissingPackageError

# How the standard input is named.
STDIN = ('-', '/dev/stdin')
# What may show that a remote file has changed; not every store has all of these.
STATES = (
    'mtime',
    'LastModified',
    'last_modified',
    'updated',
    'created',
    'ETag',
    'etag',
)


@dataclass(frozen=True)
class Remote:
    """
    A file that fsspec reaches.

    :param url: with its scheme.
    """

    url: str

    def __str__(self) -> str:
        return self.url

    def __fspath__(self) -> str:
        return self.url

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.url).name

    @property
    def suffix(self) -> str:
        """The ending of its name, with the dot."""
        return PurePosixPath(self.url).suffix

    def __truediv__(self, name: str) -> 'Remote':
        """A file in this folder."""
        return Remote(f'{self.url.rstrip("/")}/{name}')

    def resolve(self) -> 'Remote':
        """Itself: a URL has no other name."""
        return self

    def exists(self) -> bool:
        """Whether it exists."""
        return bool(self._call('exists'))

    def is_file(self) -> bool:
        """Whether it exists and is not a folder."""
        return bool(self._call('isfile'))

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return bool(self._call('isdir'))

    def open(self, mode: str = 'rb') -> io.BufferedReader:
        """
        Open it for reading.

        :raises OSError: if it cannot be read.
        """
        system, path = self._system()
        return io.BufferedReader(system.open(path, mode))

    def state(self) -> dict[str, Any]:
        """Its size, and what else may show that it has changed."""
        info = self._call('info')
        states = [f'{name} {info[name]}' for name in STATES if name in info]
        return {'size': info['size'], 'modified': '; '.join(states)}

    def upload(self, local: Path) -> None:
        """
        Store a local file under this URL, whole or not at all where the store can.

        :raises OSError: if it cannot be written.
        """
        system, path = self._system()
        system.makedirs(system._parent(path), exist_ok=True)
        system.put_file(str(local), path)

    def glob(self) -> list['Remote']:
        """The files that this pattern fits, by name."""
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

    :param opened: distinguishes it from the input of any other run.
    """

    opened: int = field(default_factory=time.time_ns)
    name: ClassVar[str] = 'stdin'
    suffix: ClassVar[str] = '.jsonl'

    def __str__(self) -> str:
        return 'the standard input'

    def resolve(self) -> 'Stdin':
        """Itself."""
        return self

    def exists(self) -> bool:
        """It is always there."""
        return True

    is_file = exists

    def is_dir(self) -> bool:
        """It is no folder."""
        return False

    def open(self, mode: str = 'rb') -> io.BufferedReader:
        """The stream."""
        return io.BufferedReader(io.FileIO(sys.stdin.fileno(), closefd=False))

    def state(self) -> dict[str, Any]:
        """What no other input has. Its size is not known."""
        return {'size': 0, 'modified': self.opened}


Location = Path | Remote | Stdin


def locate(name: str | Location) -> Location:
    """The file of a path or a URL; ``file://`` is a path, ``-`` the standard input."""
    if not isinstance(name, str):
        return name
    if name in STDIN:
        return Stdin()
    if name.startswith('file://'):
        return Path(name.removeprefix('file://'))
    return Remote(name) if '://' in name else Path(name)


def read_state(infile: Location) -> dict[str, Any]:
    """The state of a file, from which a change can be recognised."""
    if not isinstance(infile, Path):
        return infile.state()
    state = infile.stat()
    return {'size': state.st_size, 'modified': state.st_mtime_ns}


def expand_pattern(pattern: str) -> list[Location]:
    """
    The files of a pattern (``in/*.jsonl``), sorted by name; or of a name, just that.

    :raises InputError: if no file has such a name.
    """
    place = locate(pattern)
    if not globbing.has_magic(pattern) or (isinstance(place, Path) and place.exists()):
        return [place]
    if isinstance(place, Remote):
        paths: list[Location] = [*place.glob()]
    else:
        names = sorted(globbing.glob(pattern, recursive=True))
        paths = [Path(name) for name in names]
    files = [path for path in paths if not path.is_dir()]
    if not files:
        raise InputError(f'No file matches {pattern}. Check --infile.')
    return files
