"""
Writes results so that a killed run loses nothing that it has written.

Lines are appended to ``<outfile>.part`` and flushed as whole lines. When all are
written, the file is renamed atomically. A run that finds a part file with the same
signature and input resumes where it ends, after dropping an incomplete last line. Only
one run at a time can hold the part file.
"""

import errno
import glob
import json
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

from filelock import FileLock, Timeout

from parlai_q2.errors import InputError
from parlai_q2.io.files import META, Location, beside, create_lock, explain
from parlai_q2.json_values import JsonMapping, JsonObject, write_json

_logger = logging.getLogger(__name__)

# Seconds between two syncs to the disk. A killed process loses nothing that it flushed.
# A power cut can lose what was written since the last sync; it is then scored again.
SYNC_SECONDS = 5.0
# Endings of the files that are written next to an output. The part file, its lock and
# the claim exist only during a run; the summary stays.
PART, CLAIM = '.part', '.part.run.json'
ENDINGS = (PART, CLAIM, META, '.part.lock')
# The advice when a file cannot be written: before any work is done, and afterwards.
ANOTHER = 'Choose another --outfile.'
AGAIN = 'Free some disk space and run the same command again.'
CONTINUE = (
    'What was written so far is kept. Free some disk space and run the same command '
    'again to continue.'
)
DELETED = (
    '{} was deleted while it was being written. Run the same command again; it will '
    'start over.'
)


def writable(outfile: Path, *infiles: Location) -> Path:
    """
    Check, before any work is done, that an output file can be written and overwrites no
    input; create its folder. Return the file to write: the target of a link, so that
    the link stays.
    """
    with as_write_error(outfile, ANOTHER):
        place = Path(os.path.realpath(outfile))
        outputs = [place, *(beside(place, ending) for ending in ENDINGS)]
        # A pipe with a name, such as /dev/fd/3, has no real path.
        for path in (outfile, *outputs):
            if path.exists() and not path.is_file():
                kind = 'a folder' if path.is_dir() else 'not a regular file'
                name = outfile if path == place else path
                raise InputError(f'{name} is {kind}. {ANOTHER}')
        paths = (infile for infile in infiles if isinstance(infile, Path))
        inputs = set(map(os.path.realpath, paths))
        if inputs & set(map(str, outputs)):
            raise InputError(
                f'{outfile}, or a file written beside it, is also an input. {ANOTHER}'
            )
        if not place.parent.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            _logger.info(f'Made the folder {place.parent}')
        # Some folders, such as /proc, allow no files although they look writable.
        with tempfile.TemporaryFile(dir=place.parent):
            return place


def locate_summary(outfile: Path) -> Path:
    """The path of a run's summary, beside its output or the target of that link."""
    return Path(os.path.realpath(beside(Path(os.path.realpath(outfile)), META)))


def read_summary(outfile: Path) -> JsonObject | None:
    """The summary of an output that a run has finished; None without one."""
    try:
        summary = json.loads(locate_summary(outfile).read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return None
    return summary if isinstance(summary, dict) and outfile.is_file() else None


class ResumableWriter:
    """
    Appends JSON lines to a part file, and renames it when the run is finished.

    :param run: identifies a run: the signature, the input, its size and time. A run
        resumes an earlier one only if these are equal.
    :ivar done: the number of whole lines that an earlier run left.
    :ivar started_over: whether lines of a different run were discarded.
    :raises InputError: if the file cannot be written (see :func:`writable`), or another
        run is writing it.
    """

    def __init__(self, outfile: Path, run: JsonMapping):
        outfile = self.outfile = writable(outfile)
        self.part, self._claim = beside(outfile, PART), beside(outfile, CLAIM)
        self.meta = locate_summary(outfile)
        self.done = 0
        self.started_over = False
        self._synced = time.monotonic()
        with as_write_error(self.part, ANOTHER):
            self._lock = hold(self.part)
            self._stream = open(self.part, 'ab')  # noqa: SIM115
            try:
                self._take_over(run)
            except BaseException:
                self.close()
                raise

    def _take_over(self, run: JsonMapping) -> None:
        try:
            is_same = json.loads(self._claim.read_text(encoding='utf-8')) == run
        except (OSError, ValueError):
            is_same = False
        if is_same:
            self.done = drop_cut_line(self.part)
            return
        self.started_over = self.part.stat().st_size > 0
        # Truncate first: after a kill in between, old lines must not match a new claim.
        self._stream.truncate(0)
        write_text(self._claim, json.dumps(run, indent=1))

    def write(self, records: Iterable[JsonMapping]) -> None:
        self.write_lines(b''.join(map(encode_line, records)))

    def write_lines(self, lines: bytes) -> None:
        """
        Append whole lines and flush them, so that they survive a kill of this process.
        """
        with as_write_error(self.part, CONTINUE):
            self._stream.write(lines)
            self._stream.flush()
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()

    def lines(self) -> Iterator[JsonObject]:
        """The lines that an earlier run wrote, parsed."""
        return map(json.loads, self.raw_lines())

    def raw_lines(self) -> Generator[bytes, None, None]:
        """The lines that an earlier run wrote, as bytes."""
        with open(self.part, 'rb') as stream:
            yield from islice(stream, self.done)

    def keep(self, size: int) -> None:
        """Keep only the first bytes of what an earlier run wrote."""
        self._stream.truncate(size)

    def finish(
        self, summary: JsonMapping, convert: Callable[[Path, Path], None] | None = None
    ) -> None:
        """
        Give the file its final name, perhaps converted from the lines to another
        format, and write the summary beside it. If that fails, the part file is kept.
        """
        if not self.part.exists():
            self.close()
            raise InputError(DELETED.format(self.part))
        with as_write_error(self.part, CONTINUE):
            self._sync()
            with whole_file(self.meta) as unfinished:
                text = write_json(summary, indent=1) + '\n'
                unfinished.write_bytes(text.encode('utf-8'))
                # Remove the old summary first, so that it is never next to the output
                # of another run. Rename while holding the lock, so that no other run
                # can come in between.
                if convert is None:
                    self.meta.unlink(missing_ok=True)
                    os.replace(self.part, self.outfile)
                else:
                    with whole_file(self.outfile) as converted:
                        convert(self.part, converted)
                        self.meta.unlink(missing_ok=True)
        for path in (self._claim, self.meta, self.outfile):
            drop_unfinished(path)
        self.abandon()

    def abandon(self) -> None:
        """Stop and delete the part file."""
        self.part.unlink(missing_ok=True)
        self._claim.unlink(missing_ok=True)
        self.close()

    def close(self) -> None:
        """Stop without finishing; a later run can resume from here."""
        # Closing tries again to write to a full disk; that error was already reported.
        with suppress(OSError):
            self._stream.close()
        let_go(self._lock)

    def _sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()


class StdoutWriter:
    """Writes JSON lines to the standard output. Nothing of it can be resumed."""

    done = 0
    started_over = False

    def write_lines(self, lines: bytes) -> None:
        sys.stdout.flush()
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()

    def raw_lines(self) -> Generator[bytes, None, None]:
        yield from ()

    def keep(self, size: int) -> None:
        """Do nothing: nothing can be resumed."""

    def finish(self, summary: JsonMapping, convert: object = None) -> None:
        """Do nothing: there is no file to rename, and no summary."""

    abandon = close = lambda self: None


def encode_line(record: JsonMapping) -> bytes:
    line = write_json(record, ensure_ascii=False) + '\n'
    # UTF-8 cannot encode a lone surrogate from a JSON escape; keep it as an escape.
    return line.encode('utf-8', errors='backslashreplace')


@contextmanager
def as_write_error(path: Path, remedy: str) -> Iterator[None]:
    """Turn errors of the system while writing a file into an :class:`InputError`."""
    try:
        yield
    except OSError as e:
        raise InputError(f'Cannot write {path}: {explain(e)}. {remedy}') from e


def hold(part: Path) -> FileLock:
    """Lock a part file for this process, if the file system has locks."""
    lock = create_lock(part)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise InputError(
            f'Another run is writing {part}. Wait for it to finish, or choose '
            'another --outfile.'
        ) from None
    except OSError as e:
        if e.errno != errno.ENOLCK:
            raise
    return lock


def let_go(lock: FileLock) -> None:
    """Release the lock of :func:`hold`, and delete its file."""
    # It is deleted while held, so that nobody else has it; Windows refuses that.
    with suppress(OSError):
        os.unlink(lock.lock_file)
    lock.release()


def drop_cut_line(path: Path) -> int:
    """Remove an incomplete last line from a file, and count the whole ones."""
    lines = size = 0
    with open(path, 'rb+') as stream:
        for line in stream:
            if line.endswith(b'\n'):
                lines += 1
                size += len(line)
        stream.truncate(size)
    return lines


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Write a file atomically: yield a temporary path, which is renamed at the end."""
    path = Path(os.path.realpath(path))  # write to a link's target; keep the link
    if path.exists() and not path.is_file():
        code = errno.EISDIR if path.is_dir() else errno.EEXIST
        raise OSError(code, f'{path} is not a regular file', str(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f'.{path.name}.{os.getpid()}.part')
    try:
        yield unfinished
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def write_lines(path: Path, records: Iterable[JsonMapping]) -> None:
    """Write a file of JSON lines atomically (see :func:`whole_file`)."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(b''.join(map(encode_line, records)))


def drop_unfinished(path: Path) -> None:
    """Delete temporary files that :func:`whole_file` left when a run was killed."""
    for unfinished in path.parent.glob(f'.{glob.escape(path.name)}.*.part'):
        unfinished.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically (see :func:`whole_file`)."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(text.encode('utf-8'))
