"""
Opens the SQLite file of the score cache for several processes at once, creates its
tables, and sets a damaged file aside.

A damaged file is renamed and a new one is started. A file that is not a cache of ours,
or a newer one, may be somebody's data and is refused; one that can only be read is
read. If the file cannot be used otherwise (a full disk), the cache warns
once, and scoring goes on without it.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from parlai_q2.errors import ConfigError
from parlai_q2.io.files import beside, locked

# Increased with every change of the tables; a file of another version is not read.
VERSION = 1
# "pQ2s" distinguishes a score cache from any other SQLite file.
APPLICATION_ID = 0x70513273
# The first bytes of every SQLite file, and where its application id is.
MAGIC, ID_AT = b'SQLite format 3\0', 68
# Of sqlite3, whose own names for them came with Python 3.11.
SQLITE_ERROR, SQLITE_BUSY, SQLITE_LOCKED = 1, 5, 6
# Seconds to wait for another process's write.
BUSY_TIMEOUT = 60.0

ANOTHER = 'another file with --cache-file or the environment variable PARLAI_Q2_CACHE'

# ``pair`` is the SHA-256 of knowledge and response, ``value`` the score as JSON,
# ``checksum`` the CRC-32 of signature, pair and value, and ``used`` the time of last
# use in seconds.
CREATE = f"""
BEGIN IMMEDIATE;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
CREATE TABLE signatures (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE scores (
    signature INTEGER NOT NULL REFERENCES signatures (id),
    pair BLOB NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (signature, pair)
);
CREATE INDEX scores_by_use ON scores (used);
COMMIT;
"""

TABLE_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table'"

T = TypeVar('T')

_logger = logging.getLogger(__name__)


class SqliteFile:
    """Each process and thread opens the file on first use."""

    def __init__(self, path: Path):
        self.path = path
        # Becomes False when the file turns out to be unusable.
        self.usable = True
        # By process and thread: a forked child may neither use nor close what its
        # parent opened.
        self._connections: dict[tuple[int, int], sqlite3.Connection] = {}

    def do(
        self,
        action: Callable[[sqlite3.Connection], T],
        otherwise: T,
        needed: bool = False,
    ) -> T:
        """
        Act on the file, on a new one if it is damaged.

        :param otherwise: returned after a warning if the file cannot be used.
        :param needed: raise a ConfigError instead of a warning.
        :raises ConfigError: if the file is none of ours.
        """
        here, damage = _here(), None
        while self.usable or needed:
            try:
                if damage:
                    self._begin_anew(damage)
                if here not in self._connections:
                    self._connections[here] = self._open()
                return action(self._connections[here])
            except (sqlite3.Error, UnicodeDecodeError, OSError) as e:
                self.close()
                if not damage and is_damage(e) and not self.read_only:
                    damage = e
                    continue
                if busy := is_busy(e):
                    problem = f'The score cache {self.path} is busy: {e}.'
                    remedy = 'Try again later.'
                else:
                    problem = f'The score cache {self.path} cannot be used: {e}.'
                    remedy = f'Give {ANOTHER}.'
                if needed:
                    raise ConfigError(f'{problem} {remedy}') from e
                self.usable = busy
                _logger.warning(f'{problem} Scoring goes on without it. {remedy}')
                break
        return otherwise

    @property
    def read_only(self) -> bool:
        """Whether the file can be read but neither written nor renamed."""
        if not self.path.is_file():
            return False
        places = (self.path, self.path.parent)
        is_writable = all(os.access(place, os.W_OK) for place in places)
        # Another process may have renamed it meanwhile, as it does if it is damaged.
        return not is_writable and self.path.is_file()

    def close(self) -> None:
        """Close the file for this thread; its next use opens it again."""
        connection = self._connections.pop(_here(), None)
        if connection is not None:
            connection.close()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_connections': {}}

    def _open(self) -> sqlite3.Connection:
        if self.read_only:
            return connect(self.path, read_only=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path, BUSY_TIMEOUT):
            return connect(self.path)

    def _begin_anew(self, error: Exception) -> None:
        """
        Rename a damaged or outdated file to ``<name>.damaged``, ``<name>.damaged.2``
        and so on, unless another process has already done so.
        """
        with locked(self.path, BUSY_TIMEOUT):
            if is_sound(self.path):
                return
            aside, number = beside(self.path, '.damaged'), 1
            while os.path.lexists(aside):
                number += 1
                aside = beside(self.path, f'.damaged.{number}')
            os.replace(self.path, aside)
            for ending in ('-wal', '-shm'):
                # These belong to the renamed file and would corrupt the new one.
                beside(self.path, ending).unlink(missing_ok=True)
        _logger.warning(
            f'The score cache {self.path} cannot be read ({error}). It was '
            f'renamed to {aside.name} and a new one was started; scores are '
            'computed again.'
        )


def connect(path: Path, read_only: bool = False) -> sqlite3.Connection:
    """
    Open a cache, creating it and its tables if needed. Hold the file's lock, because
    two processes cannot create it at once.

    :raises sqlite3.DatabaseError: if it is damaged or outdated, or cannot be opened;
        damage in a text shows as a UnicodeDecodeError.
    :raises ConfigError: if it is an intact file of another program or a newer version.
    """
    check_ours(path)
    # Without "immutable", SQLite would create files beside it.
    how = 'mode=ro&immutable=1' if read_only else 'mode=rwc'
    connection = sqlite3.connect(
        f'{path.absolute().as_uri()}?{how}',
        uri=True,
        timeout=BUSY_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
    )
    # By itself, sqlite3 raises one of its own errors for text that is damaged.
    connection.text_factory = bytes.decode
    try:
        tables = {name for (name,) in connection.execute(TABLE_NAMES)}
        if tables or read_only:
            _check_tables(connection, tables, path)
        else:
            # This must be set while the file is empty; it gives unused pages back.
            connection.execute('PRAGMA auto_vacuum = FULL')
            connection.executescript(CREATE)
        if not read_only:
            connection.execute('PRAGMA journal_mode = WAL')
            # With WAL, a killed process loses nothing. A power cut may lose the last
            # writes; those scores are computed again.
            connection.execute('PRAGMA synchronous = NORMAL')
    except BaseException:
        connection.close()
        raise
    return connection


def number(connection: sqlite3.Connection, query: str) -> int:
    """The one number that a query asks for."""
    return int(connection.execute(query).fetchone()[0])


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction, which waits for other writers."""
    with connection:  # commits, or rolls back
        connection.execute('BEGIN IMMEDIATE')
        yield


def shrink(connection: sqlite3.Connection) -> None:
    """Give the room of deleted rows back to the disk."""
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()


def _check_tables(connection: sqlite3.Connection, tables: set[str], path: Path) -> None:
    ours = number(connection, 'PRAGMA application_id') == APPLICATION_ID
    whole = {'signatures', 'scores'} <= tables
    if tables and not ours and not whole:
        raise ConfigError(
            f"{path} is another program's SQLite file, not a score cache. "
            f'Give {ANOTHER}.'
        )
    version = number(connection, 'PRAGMA user_version')
    if version > VERSION:
        raise ConfigError(
            f'The score cache {path} was made by a newer version of parlai_q2: update '
            f'parlai_q2, or give {ANOTHER}.'
        )
    if not (ours and whole and version == VERSION):
        raise sqlite3.DatabaseError('its tables or their version are damaged or old')


def check_ours(path: Path) -> None:
    """
    A ConfigError for a file that has content, but neither the first bytes of an SQLite
    file nor our application id.
    """
    head = b''
    if path.exists():
        with open(path, 'rb') as stream:
            head = stream.read(ID_AT + 4)
    ours = head[ID_AT:] == APPLICATION_ID.to_bytes(4, 'big')
    if head and not head.startswith(MAGIC) and not ours:
        raise ConfigError(
            f'{path} is not a parlai_q2 score cache, or its beginning is damaged. Give '
            f'{ANOTHER}, or delete this one if nobody needs it.'
        )


def is_damage(error: Exception) -> bool:
    """Whether the content of the file is damaged, rather than out of reach."""
    # "malformed" and "not a database" are raised as the base class itself; a table or
    # a format that is not there, as an error of the statement.
    return (
        isinstance(error, (UnicodeDecodeError, sqlite3.DataError))
        or type(error) is sqlite3.DatabaseError
        or read_error_code(error) == SQLITE_ERROR
    )


def is_busy(error: Exception) -> bool:
    """Whether other processes kept the file locked for too long."""
    locked = read_error_code(error) in (SQLITE_BUSY, SQLITE_LOCKED)
    return locked or isinstance(error, TimeoutError)


def read_error_code(error: Exception) -> int | None:
    """SQLite's primary code for an error; None where it is not SQLite's."""
    if not isinstance(error, sqlite3.OperationalError):
        return None
    code = getattr(error, 'sqlite_errorcode', None)
    if code is not None:
        return int(code) & 0xFF
    # Python 3.10 has only the message.
    message = str(error)
    if 'locked' in message:
        return SQLITE_BUSY
    return SQLITE_ERROR if message.startswith(('no such', 'unsupported')) else None


def is_sound(path: Path) -> bool:
    """Whether the file and its tables are intact, or the file does not exist."""
    try:
        with closing(connect(path)) as connection:
            return bool(
                connection.execute('PRAGMA quick_check(1)').fetchone()[0] == 'ok'
            )
    except (sqlite3.Error, UnicodeDecodeError) as e:
        return not is_damage(e)


def _here() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()
