"""
Writes results so that a killed run loses nothing.

Lines go to ``<outfile>.part``, each flushed whole. When all are there the file takes
its real name in one step. A run that finds a part file made with the same signature
from the same input goes on where it ends; a line cut short by the kill is dropped
first. One run at a time holds the part file.
"""

import errno
import glob
import json
import os
import time
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, ContextManager, Iterable, Iterator

from parlai_q2.errors import InputError
from parlai_q2.files.lock import lock

# Seconds between two syncs to the disk. A killed process loses nothing that it flushed;
# only a machine that loses power can lose what was written since, and it is done again.
SYNC_SECONDS = 5.0
# What stands beside an output while it is made and, the summary, after.
PART, CLAIM, META = ENDINGS = '.part', '.part.run.json', '.meta.json'
# What to do about a file that cannot be written.
ANOTHER = 'Choose another --outfile.'


def writable(outfile: Path, *infiles: Path) -> Path:
    """
    The file to write, looked at before any work is done.

    :param outfile: as it was asked for; its folder is made.
    :param infiles: what is read, and must not be written over.
    :return: the file; of a link, what it points to, which keeps the link.
    :raises InputError: where it, or what is written beside it, is a folder, a device or
        an input, or where nothing can be written.
    """
    with writing(outfile, ANOTHER):
        place = Path(os.path.realpath(outfile))
        written = [place, *(beside(place, ending) for ending in ENDINGS)]
        for path in written:
            if path.exists() and not path.is_file():
                kind = 'a folder' if path.is_dir() else 'not a regular file'
                name = outfile if path == place else path
                raise InputError(f'{name} is {kind}. {ANOTHER}')
        read = {os.path.realpath(one) for one in infiles}
        if read & set(map(str, written)):
            raise InputError(
                f'{outfile}, or a file written beside it, is also an input. {ANOTHER}'
            )
        place.parent.mkdir(parents=True, exist_ok=True)
        right = os.access(place.parent, os.W_OK)
    if not right:
        raise InputError(
            f'Cannot write {outfile}: you may not write in its folder. {ANOTHER}'
        )
    return place


def meta_of(outfile: Path) -> Path:
    """
    Where the summary of a run stands: beside its output, or beside what that points to.
    """
    return Path(os.path.realpath(beside(Path(os.path.realpath(outfile)), META)))


def beside(path: Path, ending: str) -> Path:
    """
    The file whose name is a file's with something after it.
    """
    return path.with_name(path.name + ending)


class ResumableWriter:
    """
    Appends JSON lines to a part file and names it at the end.

    :param outfile: the file to make.
    :param run: what makes two runs the same: signature, input, its size and time.
    :param infiles: what is read, and must not be written over.
    :raises InputError: when the file cannot be written (see :func:`writable`), or
        another run is writing it.
    """

    def __init__(self, outfile: Path, run: dict[str, Any], *infiles: Path):
        outfile = self.outfile = writable(outfile, *infiles)
        self.part, self._claim = beside(outfile, PART), beside(outfile, CLAIM)
        self.meta = meta_of(outfile)
        # Whole lines that an earlier run left, and whether it was another one's, which
        # were thrown away.
        self.done = 0
        self.started_over = False
        self._synced = time.monotonic()
        with writing(outfile, ANOTHER):
            self._stream = open(self.part, 'ab')
            try:
                self._take_over(run)
            except BaseException:
                self._stream.close()
                raise

    def _take_over(self, run: dict[str, Any]) -> None:
        hold(self._stream, self.part)
        if self._same_run(run):
            self.done = drop_cut_line(self.part)
            return
        self.started_over = self.part.stat().st_size > 0
        # In this order: a kill in between must not leave old lines to the new claim.
        self._stream.truncate(0)
        write_text(self._claim, json.dumps(run, indent=1))

    def _same_run(self, run: dict[str, Any]) -> bool:
        try:
            return json.loads(self._claim.read_text(encoding='utf-8')) == run
        except (OSError, ValueError):
            return False

    def write(self, records: Iterable[dict[str, Any]]) -> None:
        """
        Append records, one line each.
        """
        self.write_lines(b''.join(map(encode_line, records)))

    def write_lines(self, lines: bytes) -> None:
        """
        Append whole lines, and hand them to the system: a kill of this process does not
        lose them.

        :raises InputError: when the disk takes no more; what was written is kept.
        """
        with self._writing():
            self._stream.write(lines)
            self._stream.flush()
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()

    def lines(self) -> Iterator[dict[str, Any]]:
        """
        The lines that an earlier run wrote, read back.
        """
        return map(json.loads, self.raw_lines())

    def raw_lines(self) -> Iterator[bytes]:
        """
        The same as bytes.
        """
        with open(self.part, 'rb') as stream:
            yield from islice(stream, self.done)

    def keep(self, size: int) -> None:
        """
        Keep so many bytes of what an earlier run wrote, and drop the rest.

        :param size: bytes, up to the end of a line.
        """
        self._stream.truncate(size)

    def finish(self, summary: dict[str, Any]) -> None:
        """
        Give the file its name, and write the summary beside it.

        :raises InputError: as :meth:`write_lines`.
        """
        with self._writing():
            self._sync()
            with whole_file(self.meta) as unfinished:
                text = json.dumps(summary, indent=1) + '\n'
                unfinished.write_bytes(text.encode('utf-8'))
                # In this order: a summary never stands beside another run's file. The
                # name is given while the lock is held: no other run comes in between.
                self.meta.unlink(missing_ok=True)
                os.replace(self.part, self.outfile)
        self._claim.unlink(missing_ok=True)
        for path in (self._claim, self.meta):
            drop_unfinished(path)
        self._stream.close()

    def abandon(self) -> None:
        """
        Stop and leave nothing behind.
        """
        self.part.unlink(missing_ok=True)
        self._claim.unlink(missing_ok=True)
        self._stream.close()

    def close(self) -> None:
        """
        Stop without finishing; a later run goes on from here.
        """
        # Lines that a full disk did not take are tried once more, and are no news.
        with suppress(OSError):
            self._stream.close()

    def _writing(self) -> ContextManager[None]:
        return writing(
            self.part,
            'What was written so far is kept. Free some disk space and run the '
            'same command again to continue.',
        )

    def _sync(self) -> None:
        os.fsync(self._stream.fileno())
        self._synced = time.monotonic()


def encode_line(record: dict[str, Any]) -> bytes:
    """
    A record as a line of JSON.
    """
    line = json.dumps(record, ensure_ascii=False) + '\n'
    # A lone surrogate from a JSON escape has no UTF-8; keep it as an escape.
    return line.encode('utf-8', errors='backslashreplace')


@contextmanager
def writing(path: Path, remedy: str) -> Iterator[None]:
    """
    Where a file is written.

    :param path: the file, for the message.
    :param remedy: what to do when it cannot be.
    :raises InputError: when the system does not let it be written.
    """
    try:
        yield
    except OSError as e:
        raise InputError(f'Cannot write {path}: {e.strerror}. {remedy}') from e


def hold(stream: IO[Any], path: Path) -> None:
    """
    Hold an open part file for this process, as :func:`~parlai_q2.files.lock.lock` does.

    :param path: where it was opened.
    :raises InputError: when another run holds it, or it is not there any more: one that
        ended between our opening and our lock has given it its real name.
    """
    try:
        held = lock(stream) and os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except FileNotFoundError:
        held = False
    if not held:
        raise InputError(
            f'Another run is writing {path}. Wait for it to finish, or choose '
            'another --outfile.'
        )


def drop_cut_line(path: Path) -> int:
    """
    Drop an unfinished last line from a file.

    :return: how many whole lines there are.
    """
    lines = kept = 0
    with open(path, 'rb+') as stream:
        for line in stream:
            if line.endswith(b'\n'):
                lines += 1
                kept += len(line)
        stream.truncate(kept)
    return lines


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """
    A place to write to, which becomes the file in one step: it is there whole or not at
    all.

    :param path: the file; its folder is made.
    :return: where to write; nothing is left there when that fails.
    """
    path = Path(os.path.realpath(path))  # what a link points to; the link stays
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


def drop_unfinished(path: Path) -> None:
    """
    Remove what :func:`whole_file` left beside a file in runs that were killed.

    :param path: the file; nobody else may be writing it.
    """
    for left in path.parent.glob(f'.{glob.escape(path.name)}.*.part'):
        left.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """
    Write a file in one step, as :func:`whole_file` does.
    """
    with whole_file(path) as unfinished:
        unfinished.write_bytes(text.encode('utf-8'))
