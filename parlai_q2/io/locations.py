"""
Files by path or by URL. A URL (``s3://…``, ``gs://…``, ``memory://…``) is read as far
as fsspec and what is installed beside it can; it has the few methods of a path that
readers use.
"""

import glob as globbing
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Union

from parlai_q2.errors import ConfigError, InputError, MissingPackageError

# What may tell that a remote file is another than before; not every store has all.
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
        """Whether it is there."""
        return self._call('exists')

    def is_file(self) -> bool:
        """Whether it is there and no folder."""
        return self._call('isfile')

    def is_dir(self) -> bool:
        """Whether it is a folder."""
        return self._call('isdir')

    def open(self, mode: str = 'rb') -> io.BufferedReader:
        """
        Open it for reading.

        :raises OSError: if it cannot be read.
        """
        system, path = self._system()
        return io.BufferedReader(system.open(path, mode))

    def state(self) -> dict[str, Any]:
        """Its size, and what else may tell that it has changed."""
        info = self._call('info')
        found = [f'{name} {info[name]}' for name in STATES if name in info]
        return {'size': info['size'], 'modified': '; '.join(found)}

    def put(self, local: Path) -> None:
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
            Remote(system.unstrip_protocol(one)) for one in sorted(system.glob(path))
        ]

    def _call(self, name: str) -> Any:
        system, path = self._system()
        return getattr(system, name)(path)

    def _system(self) -> tuple[Any, str]:
        import fsspec

        scheme = self.url.partition('://')[0]
        try:
            return fsspec.core.url_to_fs(self.url)
        except ImportError as e:
            raise MissingPackageError(f'{self.url} cannot be reached: {e}') from e
        except ValueError as e:
            raise ConfigError(f'{self.url}: {e}. Is {scheme}:// meant?') from e


Location = Union[Path, Remote]


def located(given: Union[str, Path, Remote]) -> Location:
    """The file of a path or a URL; ``file://`` is a path."""
    if not isinstance(given, str):
        return given
    if given.startswith('file://'):
        return Path(given.removeprefix('file://'))
    return Remote(given) if '://' in given else Path(given)


def state_of(infile: Location) -> dict[str, Any]:
    """The state of a file, from which a change can be recognised."""
    if isinstance(infile, Remote):
        return infile.state()
    state = infile.stat()
    return {'size': state.st_size, 'modified': state.st_mtime_ns}


def matching(given: str) -> list[Location]:
    """
    The files of a pattern (``in/*.jsonl``), sorted by name; or of a name, just that.

    :raises InputError: if no file has such a name.
    """
    place = located(given)
    if not globbing.has_magic(given) or isinstance(place, Path) and place.exists():
        return [place]
    found: Sequence[Location]
    if isinstance(place, Remote):
        found = place.glob()
    else:
        found = [Path(one) for one in sorted(globbing.glob(given, recursive=True))]
    found = [one for one in found if not one.is_dir()]
    if not found:
        raise InputError(f'No file fits {given}. Check --infile.')
    return list(found)
