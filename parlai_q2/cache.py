"""
The score cache: keeps scores on disk, so that no response is scored twice with the same
signature. It is one SQLite file, which many processes and threads can use at once.

A score is looked up by the scorer's full signature, knowledge and response. When the
file exceeds its size limit, the scores that were not used for longest are deleted. If
the file cannot be used (damaged, locked, a full disk), the cache warns once, and
scoring goes on without it. A file that cannot be written is only read.
"""

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from parlai_q2.claims import Score
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.files import beside, cache_folder, locked
from parlai_q2.scorers.shell import Pair

# An environment variable with the path of the cache, to keep it elsewhere.
VARIABLE = 'PARLAI_Q2_CACHE'
DEFAULT_MAX_BYTES = 1024**3
# Increased with every change of the tables. Scores of an older version are deleted.
VERSION = 2
# "pQ2s" distinguishes a score cache from any other SQLite file.
APPLICATION_ID = 0x70513273
# Where it is in the file.
ID_AT = 68
# Seconds to wait for another process's write.
BUSY_TIMEOUT = 60.0
# Seconds between two updates of a row's time of use, so that reads rarely write.
USE_NOTED_EVERY = 3600

ANOTHER = f'another file with --cache-file or the environment variable {VARIABLE}'

# ``key`` is the SHA-256 of signature, knowledge and response, ``value`` the score as
# JSON, and ``used`` the time of last use in seconds. Unused pages are given back.
CREATE = f"""
PRAGMA auto_vacuum = FULL;
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
DROP TABLE IF EXISTS scores;
DROP TABLE IF EXISTS signatures;
CREATE TABLE scores (
    key BLOB PRIMARY KEY,
    signature TEXT NOT NULL,
    value BLOB NOT NULL,
    used INTEGER NOT NULL
);
COMMIT;
"""
FILE_SIZE = 'SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'
DELETE_OLDEST_TENTH = """
DELETE FROM scores WHERE rowid IN (
    SELECT rowid FROM scores ORDER BY used, rowid
    LIMIT (SELECT count(*) / 10 + 1 FROM scores)
)
"""
# Gives the room of deleted rows back to the disk.
SHRINK = 'PRAGMA wal_checkpoint(TRUNCATE)'
# Finds damage that deleting rows went past.
CHECK = 'PRAGMA integrity_check(1)'

_logger = logging.getLogger(__name__)


def default_cache_path() -> Path:
    """
    ``$PARLAI_Q2_CACHE``, else ``scores.sqlite`` in
    :func:`~parlai_q2.io.files.cache_folder`.
    """
    path = os.environ.get(VARIABLE)
    return Path(path).expanduser() if path else cache_folder() / 'scores.sqlite'


class StoredSignature(NamedTuple):
    """
    What a cache holds for one full signature: how many scores, the total length of
    their values, and when one of them was last used, in seconds since 1970.
    """

    text: str
    rows: int
    bytes: int
    used: int


class ScoreCache:
    """
    Scores on disk. Each process and thread opens the file on first use.

    :param path: the file. It and its folder are created if needed. Default:
        :func:`default_cache_path`.
    :param max_bytes: the size limit of the file.
    :ivar usable: becomes False when the file turns out to be unusable.
    :ivar is_read_only: whether the file or its folder could not be written when it was
        opened.
    :raises ConfigError: on first use, if the file belongs to another program or a newer
        version.
    """

    def __init__(
        self, path: str | Path | None = None, max_bytes: int = DEFAULT_MAX_BYTES
    ):
        self.path = default_cache_path() if path is None else Path(path).expanduser()
        self.max_bytes = max_bytes
        self.usable = True
        self.is_read_only = False
        # By process and thread: a forked child may neither use nor close what its
        # parent opened.
        self._connections: dict[tuple[int, int], sqlite3.Connection] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_connections': {}}

    def get(self, signature: str, pairs: Iterable[Pair]) -> dict[Pair, Score]:
        """The scores of those pairs (knowledge, response) that have one here."""
        scores: dict[Pair, Score] = {}
        if not self.usable:
            return scores
        now, unnoted = int(time.time()), []
        with self._go_on_without():
            connection = self._connect()
            for pair in pairs:
                key = make_key(signature, pair)
                row = connection.execute(
                    'SELECT value, used <= ? FROM scores WHERE key = ?',
                    (now - USE_NOTED_EVERY, key),
                ).fetchone()
                score = row and decode(row[0], signature)
                if score:
                    scores[pair] = score
                    if row[1]:
                        unnoted.append((now, key))
            if unnoted and not self.is_read_only:
                with connection:
                    note = 'UPDATE scores SET used = ? WHERE key = ?'
                    connection.executemany(note, unnoted)
        return scores

    def put(self, signature: str, scores: Mapping[Pair, Score]) -> None:
        """Keep the scores of pairs, either all or none, replacing earlier ones."""
        if not self.usable or not scores:
            return
        now = int(time.time())
        rows = [
            (make_key(signature, pair), signature, encode(score, signature), now)
            for pair, score in scores.items()
        ]
        with self._go_on_without():
            connection = self._connect()
            if self.is_read_only:
                return
            with connection:
                insert = 'INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?)'
                connection.executemany(insert, rows)
                is_full = connection.execute(FILE_SIZE).fetchone()[0] > self.max_bytes
                if is_full:
                    connection.execute(DELETE_OLDEST_TENTH)
            if is_full:
                connection.execute(SHRINK)

    def signatures(self) -> list[StoredSignature]:
        """
        What the file holds for each signature, the one with most scores first.

        :raises ConfigError: if the file cannot be used.
        """
        query = (
            'SELECT signature, count(*), sum(length(value)), max(used) FROM scores '
            'GROUP BY signature ORDER BY count(*) DESC, signature'
        )
        try:
            return [StoredSignature(*row) for row in self._connect().execute(query)]
        except (sqlite3.Error, OSError) as e:
            raise ConfigError(self._close_and_explain(e)) from e

    def clear(
        self, signature: str | None = None, unused_for: float | None = None
    ) -> int:
        """
        Delete scores; a damaged file as a whole, if all scores are to be deleted.

        :param signature: delete only scores with this full signature.
        :param unused_for: delete only scores that were not used for this many seconds.
        :return: how many scores were deleted; 0 of a damaged file.
        :raises ConfigError: if the file cannot be used.
        """
        until = None if unused_for is None else int(time.time() - unused_for)
        is_whole = signature is None and until is None
        try:
            connection = self._connect()
            with connection:
                count = connection.execute(
                    'DELETE FROM scores WHERE (:text IS NULL OR signature = :text) '
                    'AND (:until IS NULL OR used <= :until)',
                    {'text': signature, 'until': until},
                ).rowcount
            connection.execute(SHRINK)
            if is_whole:
                (state,) = connection.execute(CHECK).fetchone()
                if state != 'ok':
                    raise sqlite3.DatabaseError(state)
            return count
        except (sqlite3.Error, OSError) as e:
            problem = self._close_and_explain(e)
            # What is out of reach, not damaged, has an error of a class of its own.
            if type(e) is not sqlite3.DatabaseError or not is_whole:
                raise ConfigError(problem) from e
        try:
            with locked(self.path, BUSY_TIMEOUT):
                for ending in ('', '-wal', '-shm'):
                    beside(self.path, ending).unlink(missing_ok=True)
        except OSError as e:
            raise ConfigError(
                f'Cannot delete {self.path}, which is damaged: {e}.'
            ) from e
        return 0

    def file_bytes(self) -> int:
        """The size of the cache on disk, in bytes; 0 if there is none."""
        names = (self.path, beside(self.path, '-wal'))
        return sum(path.stat().st_size for path in names if path.exists())

    def close(self) -> None:
        """Close the file for this thread; its next use opens it again."""
        connection = self._connections.pop(_here(), None)
        if connection is not None:
            connection.close()

    def _connect(self) -> sqlite3.Connection:
        here = _here()
        if here not in self._connections:
            is_first, places = not self._connections, (self.path, self.path.parent)
            self.is_read_only = self.path.exists() and not all(
                os.access(place, os.W_OK) for place in places
            )
            self._connections[here] = open_file(self.path, self.is_read_only)
            if self.is_read_only and is_first:
                _logger.warning(
                    f'The score cache {self.path} cannot be written. Its scores are '
                    f'used, and no others kept. To keep them, give {ANOTHER}.'
                )
        return self._connections[here]

    @contextmanager
    def _go_on_without(self) -> Iterator[None]:
        """Warn of an error, and use the cache no more."""
        try:
            yield
        except (sqlite3.Error, OSError) as e:
            self.usable = False
            problem = self._close_and_explain(e)
            _logger.warning(f'{problem} Scoring goes on without it.')

    def _close_and_explain(self, error: Exception) -> str:
        self.close()
        remedy = f'Give {ANOTHER}.'
        # Other problems have an error of a class of its own.
        if type(error) is sqlite3.DatabaseError:
            file = quote(str(self.path))
            command = f'parlai_q2 cache --clear all --cache-file {file}'
            remedy = f'Empty it with "{command}", or give {ANOTHER}.'
        return f'The score cache {self.path} cannot be used: {error}. {remedy}'


def open_file(path: Path, is_read_only: bool = False) -> sqlite3.Connection:
    """
    Open a cache, creating it and its table if needed.

    :raises ConfigError: if it is a file of another program or a newer version.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # What another process is just creating has no application id yet.
    with nullcontext() if is_read_only else locked(path, BUSY_TIMEOUT):
        connection = _open_to_read(path) if is_read_only else _open(path)
        try:
            check_ours(connection, path)
            (version,) = connection.execute('PRAGMA user_version').fetchone()
            if version > VERSION:
                raise ConfigError(
                    f'The score cache {path} was made by a newer version of parlai_q2: '
                    f'update parlai_q2, or give {ANOTHER}.'
                )
            if version < VERSION:
                connection.executescript(CREATE)
            if not is_read_only:
                connection.execute('PRAGMA journal_mode = WAL')
                # With WAL, a killed process loses nothing. A power cut may lose the
                # last writes; those scores are computed again.
                connection.execute('PRAGMA synchronous = NORMAL')
        except BaseException:
            connection.close()
            raise
    return connection


def _open(path: Path, how: str = '') -> sqlite3.Connection:
    url = path.resolve().as_uri() + how
    return sqlite3.connect(url, timeout=BUSY_TIMEOUT, uri=True)


def _open_to_read(path: Path) -> sqlite3.Connection:
    connection = _open(path, '?mode=ro')
    try:
        connection.execute('SELECT count(*) FROM sqlite_master')
    except sqlite3.OperationalError:
        # SQLite can make no file for its locks: nobody may be writing.
        connection.close()
        connection = _open(path, '?immutable=1')
    except sqlite3.DatabaseError:
        pass  # It is damaged, which the caller finds.
    return connection


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """
    A ConfigError for a file that has content, but not our application id. SQLite reads
    it: if this process opened and closed the file itself, it would lose the locks of
    its other threads, and another process could delete what these are writing.
    """
    try:
        (application_id,) = connection.execute('PRAGMA application_id').fetchone()
        (pages,) = connection.execute('PRAGMA page_count').fetchone()
        is_ours = application_id == APPLICATION_ID or not pages
    except sqlite3.DatabaseError as e:
        if 'not a database' not in str(e):
            raise
        # A damaged cache keeps its id. Nobody has locks on what is no database.
        with open(path, 'rb') as stream:
            head = stream.read(ID_AT + 4)
        if head[ID_AT:] == APPLICATION_ID.to_bytes(4, 'big'):
            raise
        is_ours = False
    if not is_ours:
        raise ConfigError(
            f'{path} is not a parlai_q2 score cache, or its beginning is damaged. Give '
            f'{ANOTHER}, or delete this one if nobody needs it.'
        )


def make_key(signature: str, pair: Pair) -> bytes:
    """The SHA-256 of a signature and all texts, including where each ends."""
    knowledge, response = pair
    digest = hashlib.sha256()
    for text in (signature, *knowledge, response):
        encoded = text.encode('utf-8', 'surrogatepass')
        digest.update(b'%d:' % len(encoded) + encoded)
    return digest.digest()


def encode(score: Score, signature: str) -> bytes:
    """A score as JSON, which does not repeat the signature it is stored under."""
    fields = score.to_dict()
    if fields['signature'] == signature:
        del fields['signature']
    return json.dumps(fields, allow_nan=False).encode()


def decode(value: bytes, signature: str) -> Score | None:
    """Read back what :func:`encode` returned; None if it is not a score."""
    try:
        return Score.from_dict({'signature': signature, **json.loads(value)})
    except (InputError, TypeError, ValueError):
        # It was written by a version with other fields, or is damaged.
        return None


def _here() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()
