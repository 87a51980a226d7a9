"""
The SQLite file of the score cache: its tables, its rows, and how damage shows.

    signatures   id, text                                a scorer's full signature
    scores       signature, pair, value, checksum, used  the score of one response

``pair`` is the SHA-256 of knowledge and response, ``value`` the score as JSON,
``checksum`` the CRC-32 of signature, pair and value, and ``used`` the time of last use
in seconds. The version of the tables is the file's ``user_version``.
"""

import math
import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Sequence, TypeVar

from parlai_q2.cache.rows import decode
from parlai_q2.errors import ConfigError
from parlai_q2.records import Score
from parlai_q2.signature import digits

# Increased with every change of the tables; a file of another version is not read.
VERSION = 1
# "pQ2s" distinguishes a score cache from any other SQLite file.
APPLICATION_ID = 0x70513273
# The first bytes of every SQLite file, and where its application id is.
MAGIC, ID_AT = b'SQLite format 3\0', 68
# Seconds to wait for another process's write.
BUSY_TIMEOUT = 60.0
# Seconds between two updates of a row's time of use, so that reads rarely write.
USE_NOTED_EVERY = 3600
# Keys per query; older versions of SQLite allow at most 999 variables.
KEYS = 500
# When the file exceeds its limit, it is reduced to this share of the limit.
EVICT_TO = 0.9

# By name, as SQLite keeps the statements.
DEFINITIONS = {
    'signatures': 'CREATE TABLE signatures '
    '(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)',
    'scores': """CREATE TABLE scores (
    signature INTEGER NOT NULL REFERENCES signatures (id),
    pair BLOB NOT NULL,
    value BLOB NOT NULL,
    checksum INTEGER NOT NULL,
    used INTEGER NOT NULL,
    PRIMARY KEY (signature, pair)
)""",
    'scores_by_use': 'CREATE INDEX scores_by_use ON scores (used)',
}

T = TypeVar('T')


class OtherVersion(Exception):
    """The tables of the file are of a version that this code does not read."""

    def __init__(self, version: int):
        self.version = version
        super().__init__(f'it has version {version} of the tables, not {VERSION}')


class StoredSignature(NamedTuple):
    """
    What a file holds for one full signature: the number of scores, the total length of
    their values, and when one was last used, in seconds since 1970.
    """

    text: str
    rows: int
    bytes: int
    used: int

    @property
    def short(self) -> str:
        """The hash of the signature, which its short form ends in."""
        return digits(self.text)


# --- the file


def connect(path: Path, read_only: bool = False) -> sqlite3.Connection:
    """
    Open a cache, creating it and its tables if needed.

    :param path: the file; its folder must exist.
    :param read_only: the file or its folder cannot be written.
    :raises sqlite3.DatabaseError: if it is damaged or cannot be opened; damage in a
        text shows as a UnicodeDecodeError.
    :raises OtherVersion: if its tables are of another version.
    :raises ConfigError: if it is an intact SQLite file of another program.
    """
    # Without "immutable", SQLite would create files beside it.
    how = 'mode=ro&immutable=1' if read_only else 'mode=rwc'
    connection = sqlite3.connect(
        f'{path.absolute().as_uri()}?{how}',
        uri=True,
        timeout=BUSY_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _prepare(connection, path, read_only)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, read_only: bool) -> None:
    tables = dict(connection.execute('SELECT name, sql FROM sqlite_master'))
    if not tables and not read_only:
        # This must be set while the file is empty; it lets eviction shrink the file.
        connection.execute('PRAGMA auto_vacuum = INCREMENTAL')
        connection.executescript(
            f'BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID}; '
            f'PRAGMA user_version = {VERSION}; {";".join(DEFINITIONS.values())}; '
            'COMMIT;'
        )
    elif _number(connection, 'PRAGMA application_id') != APPLICATION_ID:
        if {'signatures', 'scores'} <= tables.keys():
            raise sqlite3.DatabaseError('its application id is damaged')
        raise ConfigError(
            f"{path} is another program's SQLite file, not a score cache. Give "
            'another file: --cache-file FILE'
        )
    version = _number(connection, 'PRAGMA user_version')
    if version != VERSION:
        if DEFINITIONS.items() <= tables.items():
            raise sqlite3.DatabaseError('its version is damaged')
        raise OtherVersion(version)
    if not read_only:
        connection.execute('PRAGMA journal_mode = WAL')
        # With WAL, a killed process loses nothing. A power cut may lose the last
        # writes; those scores are computed again.
        connection.execute('PRAGMA synchronous = NORMAL')


def is_damage(error: Exception) -> bool:
    """
    Whether an error means that the content of the file is damaged, rather than that the
    file cannot be accessed.
    """
    # "malformed" and "not a database" are raised as the base class itself.
    return (
        isinstance(error, (UnicodeDecodeError, sqlite3.DataError))
        or type(error) is sqlite3.DatabaseError
        or any(
            sign in str(error)
            for sign in ('no such', 'decode', 'malformed', 'unsupported')
        )
    )


def is_busy(error: Exception) -> bool:
    """Whether an error means that other processes kept the file locked for too long."""
    locked = isinstance(error, sqlite3.OperationalError) and 'locked' in str(error)
    return locked or isinstance(error, TimeoutError)


def is_foreign(path: Path) -> bool:
    """
    Whether a file has content, but neither the first bytes of an SQLite file nor our
    application id.

    Call this only for a file that SQLite cannot open: closing a file releases the locks
    that SQLite holds on it elsewhere in this process.
    """
    try:
        with open(path, 'rb') as stream:
            head = stream.read(ID_AT + 4)
    except OSError:
        # The file does not exist or cannot be read.
        return False
    ours = head[ID_AT:] == APPLICATION_ID.to_bytes(4, 'big')
    return bool(head) and not head.startswith(MAGIC) and not ours


def is_sound(path: Path) -> bool:
    """Whether the file and its tables are intact, or the file does not exist."""
    try:
        connection = connect(path)
        try:
            connection.execute('SELECT pair, text FROM scores, signatures LIMIT 1')
            return connection.execute('PRAGMA quick_check(1)').fetchone()[0] == 'ok'
        finally:
            connection.close()
    except OtherVersion:
        return True
    except (sqlite3.Error, UnicodeDecodeError) as e:
        return not is_damage(e)


# --- its rows


def read(
    connection: sqlite3.Connection, signature: str, keys: Sequence[bytes], now: int
) -> dict[bytes, Score]:
    """
    The scores that the file has intact, by the keys of their pairs; their time of use
    becomes ``now``, in seconds since 1970.
    """
    found: dict[bytes, Score] = {}
    unnoted: list[int] = []
    for some in _portions(keys):
        # One statement, since another process could reassign the id between two.
        rows = connection.execute(
            'SELECT pair, value, checksum, used, scores.rowid FROM scores '
            'JOIN signatures ON signatures.id = signature '
            f'WHERE text = ? AND pair IN ({_marks(some)})',
            (signature, *some),
        )
        for key, value, checksum, used, row in rows:
            score = decode(value, checksum, signature, key)
            if score is not None:
                found[key] = score
                if not isinstance(used, int) or used <= now - USE_NOTED_EVERY:
                    unnoted.append(row)
    # If the file cannot be written, reading still works.
    with suppress(sqlite3.OperationalError):
        for used_rows in _portions(unnoted):
            connection.execute(
                f'UPDATE scores SET used = ? WHERE rowid IN ({_marks(used_rows)})',
                (now, *used_rows),
            )
    return found


def write(
    connection: sqlite3.Connection,
    signature: str,
    rows: Sequence[tuple[bytes, bytes, int, int]],
    max_bytes: int,
) -> None:
    """
    Write rows, either all or none, and keep the file within its limit.

    :param rows: key, value, checksum and time of use (now) of each row, at least one.
    """
    with _transaction(connection):
        connection.execute(
            'INSERT OR IGNORE INTO signatures (text) VALUES (?)', (signature,)
        )
        connection.executemany(
            'INSERT OR REPLACE INTO scores SELECT id, ?, ?, ?, ? FROM signatures '
            'WHERE text = ?',
            [(*row, signature) for row in rows],
        )
        over = used_bytes(connection) > max_bytes
        if over:
            evict(connection, max_bytes * EVICT_TO)
    if over:
        _shrink(connection)


def delete(
    connection: sqlite3.Connection, signature: Optional[str], used_until: Optional[int]
) -> int:
    """
    Delete the rows that meet both conditions, where None is met by any; return how
    many.
    """
    count = connection.execute(
        'DELETE FROM scores WHERE (:text IS NULL OR signature IN '
        '(SELECT id FROM signatures WHERE text = :text)) '
        'AND (:until IS NULL OR used <= :until)',
        {'text': signature, 'until': used_until},
    ).rowcount
    _shrink(connection)
    return count


def signatures(connection: sqlite3.Connection) -> list[StoredSignature]:
    """What the file holds for each signature, the one with most rows first."""
    rows = connection.execute(
        'SELECT text, count(*), sum(length(value)), max(used) FROM scores '
        'JOIN signatures ON signatures.id = signature GROUP BY signature '
        'ORDER BY count(*) DESC, text'
    )
    return [StoredSignature(*row) for row in rows]


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # Waits for other writers.
    connection.execute('BEGIN IMMEDIATE')
    try:
        yield
        connection.execute('COMMIT')
    finally:
        # If the disk is full, SQLite may or may not have rolled back already.
        if connection.in_transaction:
            connection.execute('ROLLBACK')


def used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        _number(connection, f'PRAGMA {name}')
        for name in ('page_count', 'freelist_count', 'page_size')
    )
    return (pages - free) * size


def evict(connection: sqlite3.Connection, target: float) -> None:
    """Delete the least recently used rows until at most ``target`` bytes are in use."""
    while True:
        used = used_bytes(connection)
        rows = _number(connection, 'SELECT count(*) FROM scores')
        if used <= target or not rows:
            return
        connection.execute(
            'DELETE FROM scores WHERE rowid IN '
            '(SELECT rowid FROM scores ORDER BY used, rowid LIMIT ?)',
            (math.ceil(rows * (1 - target / used)),),
        )


def _shrink(connection: sqlite3.Connection) -> None:
    """Return unused pages to the disk."""
    connection.execute(
        'DELETE FROM signatures WHERE id NOT IN (SELECT signature FROM scores)'
    )
    # The statement frees one page per step, and execute() would run only one step.
    connection.executescript('PRAGMA incremental_vacuum;')
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])


def _portions(values: Sequence[T]) -> Iterable[Sequence[T]]:
    return (values[start : start + KEYS] for start in range(0, len(values), KEYS))


def _marks(values: Sequence[Any]) -> str:
    return ','.join('?' * len(values))
