"""
Published data sets: their files are placed by hand or downloaded, checked, and read as
csv with known columns or as a JSON list.

A file is checked by its SHA-256; if none is known, that of the file is logged so that
the user can record it.
"""

import csv
import json
import logging
import shutil
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from parlai_q2.errors import RecordError, TaskDataError
from parlai_q2.io.files import file_sha256, locked
from parlai_q2.io.write import whole_file

# Seconds to wait for another process that downloads, and for a server.
PATIENCE_SECONDS, SERVER_SECONDS = 1800.0, 60.0
T = TypeVar('T')


@dataclass(frozen=True)
class PublishedFile:
    """A published file: its address, and its checksum; empty if unknown."""

    url: str
    sha256: str = ''

    @property
    def name(self) -> str:
        """Its name in the task's folder."""
        return self.url.rpartition('/')[2]

    def problem(self, path: Path) -> str:
        """How a file differs from the published one; empty if it does not."""
        if self.sha256 and file_sha256(path) != self.sha256:
            return f'its SHA-256 is not {self.sha256}'
        return ''


def list_files(source: str, checksums: str) -> list[PublishedFile]:
    """The files at an address, from pairs of a file's path there and its SHA-256."""
    words = checksums.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    return [PublishedFile(source + path, sha256) for path, sha256 in pairs]


def warn_of_count(name: str, unit: str, count: int, published: int) -> None:
    """Warn if a file has more or fewer records than its paper counts."""
    if count != published:
        logging.getLogger(__name__).warning(
            f'{name} has {count:,} {unit}; the paper counts {published:,}. Is it the '
            'published file?'
        )


def fetch_files(
    datapath: str, names: Sequence[str], task: str, files: Sequence[PublishedFile]
) -> Path:
    """
    Download the files of a task that are missing, and check those that are needed;
    return the task's folder. A TaskDataError names the file and the remedy.
    """
    folder = Path(datapath, task)
    required = [file for file in files if file.name in names]
    if not all((folder / file.name).exists() for file in required):
        with ExitStack() as alone:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                # Two processes that write the same file would corrupt it.
                alone.enter_context(locked(folder, PATIENCE_SECONDS, needed=False))
            except OSError as e:
                where = e.filename or folder
                raise TaskDataError(f'Cannot use {where}: {e.strerror}.') from e
            for file in required:
                if not (folder / file.name).exists():
                    _download(folder, file, required)
    for file in required:
        if not file.sha256:
            _warn_unverified(folder / file.name)
        if problem := file.problem(folder / file.name):
            raise TaskDataError(
                f'{folder / file.name} is not the file that this task reads: '
                f'{problem}. Delete it to have it downloaded, or replace it with the '
                f'file from {file.url}.'
            )
    return folder


def download(url: str, path: Path) -> None:
    """Download a file; OSError if the server cannot be reached or refuses."""
    with (
        urllib.request.urlopen(url, timeout=SERVER_SECONDS) as source,
        path.open('wb') as target,
    ):
        shutil.copyfileobj(source, target)


def _download(
    folder: Path, file: PublishedFile, required: Sequence[PublishedFile]
) -> None:
    try:
        with whole_file(folder / file.name) as part:
            download(file.url, Path(part))
            if problem := file.problem(Path(part)):
                raise ValueError(problem)
    except (OSError, ValueError) as e:
        missing = [f for f in required if not (folder / f.name).exists()]
        names = ', '.join(f.name for f in missing)
        # The files may be in several folders or commits of a repository.
        urls = ' '.join(f.url for f in missing if f is not file)
        raise TaskDataError(
            f'Could not download {file.url} ({e}). Without a network, '
            f'download the files on another machine, copy them ({names}) to '
            f'~/parlai_data/{folder.name}, and give --datapath ~/parlai_data.'
            + (f' The others are: {urls}' if urls else '')
        ) from e


@cache
def _warn_unverified(path: Path) -> None:
    logging.getLogger(__name__).warning(
        'No checksum of %s is published, so the file is not verified. Its SHA-256 is '
        '%s.',
        path.name,
        file_sha256(path),
    )


def read_rows(
    path: str, columns: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """
    Read the rows of a UTF-8 csv file with at least these columns: yield for each the
    line it ends on and its fields. A RecordError names the line of a broken row.
    """
    with open(path, encoding='utf-8', newline='') as lines:
        reader = csv.DictReader(lines, strict=True)
        try:
            missing = [c for c in columns if c not in (reader.fieldnames or [])]
            if missing:
                raise RecordError(path, 1, f'there is no column {missing[0]!r}')
            for row in reader:
                if None in row or None in row.values():
                    raise RecordError(
                        path,
                        reader.line_num,
                        'the row has more or fewer fields than the header',
                    )
                yield reader.line_num, row
        except (csv.Error, UnicodeDecodeError) as e:
            # DictReader's own line_num stops at the last good row.
            line = reader.reader.line_num
            raise RecordError(path, line, f'cannot be read as csv: {e}') from e


def read_list(
    path: Path, kind: str, data_set: str, make: Callable[[Any, int], T]
) -> list[T]:
    """
    Read a file that is one JSON list.

    :param kind: the name of an item, e.g. ``pair``, for messages.
    :param data_set: the name of the data set, for messages.
    :param make: converts an item, given its number from 1.
    :raises RecordError: when the file or an item has another form; the line is the
        item's number.
    """
    try:
        items = json.loads(path.read_text(encoding='utf-8'))
    except ValueError as e:
        raise RecordError(str(path), 1, f'cannot be read as JSON: {e}') from e
    if not isinstance(items, list):
        raise RecordError(str(path), 1, f'must hold a list of {kind}s')
    rows = []
    for number, item in enumerate(items, 1):
        try:
            rows.append(make(item, number))
        except (KeyError, TypeError, ValueError, AttributeError) as e:
            problem = f'({kind} {number}) is not a {kind} of {data_set}: {e!r}'
            raise RecordError(str(path), number, problem) from e
    return rows


def read_json_lines(path: Path, data_set: str, make: Callable[[Any], T]) -> list[T]:
    """Read a shipped file of JSON lines; a RecordError names the line."""
    rows = []
    with path.open(encoding='utf-8') as lines:
        for number, line in enumerate(lines, 1):
            try:
                rows.append(make(json.loads(line)))
            except (KeyError, TypeError, ValueError) as e:
                problem = f'not a record of {data_set}: {e!r}'
                raise RecordError(str(path), number, problem) from e
    return rows
