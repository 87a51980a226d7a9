"""
Keeps a score file intact and within its size limit.
"""

import math
import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from parlai_q2.cache.schema import OtherVersion, connect
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import beside

# A time that is further than this in the future, in seconds, comes from a wrong clock.
CLOCKS_DIFFER = 3600
# The first bytes of every SQLite file.
MAGIC = b'SQLite format 3\0'
OTHER_FILE = (
    'another file with --cache-file or the environment variable PARLAI_Q2_CACHE'
)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """
    Run several statements as one transaction, after waiting for other writers.
    """
    connection.execute('BEGIN IMMEDIATE')
    try:
        yield
        connection.execute('COMMIT')
    finally:
        # If the disk is full, SQLite may or may not have rolled back already.
        if connection.in_transaction:
            connection.execute('ROLLBACK')


def used_bytes(connection: sqlite3.Connection) -> int:
    """
    The number of bytes in the file that are in use.
    """
    pages, free, size = (
        connection.execute(f'PRAGMA {name}').fetchone()[0]
        for name in ('page_count', 'freelist_count', 'page_size')
    )
    return (pages - free) * size


def evict(connection: sqlite3.Connection, target: float, now: int) -> None:
    """
    Delete the least recently used rows until at most ``target`` bytes are in use.

    :param target: the number of bytes to get down to.
    :param now: the time, in seconds since 1970. A time of use that is later by more
        than :data:`CLOCKS_DIFFER` came from a wrong clock; it is set back, so that the
        row does not outlive rows that are used now.
    """
    connection.execute(
        'UPDATE scores SET used = ? WHERE used > ?', (now - 1, now + CLOCKS_DIFFER)
    )
    while True:
        used = used_bytes(connection)
        rows = connection.execute('SELECT count(*) FROM scores').fetchone()[0]
        if used <= target or not rows:
            return
        connection.execute(
            'DELETE FROM scores WHERE rowid IN '
            '(SELECT rowid FROM scores ORDER BY used, rowid LIMIT ?)',
            (math.ceil(rows * (1 - target / used)),),
        )


def shrink(connection: sqlite3.Connection) -> None:
    """
    Return unused pages to the disk.
    """
    connection.execute(
        'DELETE FROM signatures WHERE id NOT IN (SELECT signature FROM scores)'
    )
    # The statement frees one page per step, and execute() would run only one step.
    connection.executescript('PRAGMA incremental_vacuum;')
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()


def is_damage(error: Exception) -> bool:
    """
    Whether an error means that the content of the file is damaged, rather than that the
    file cannot be accessed.
    """
    # "malformed" and "not a database" are raised as the base class itself.
    return type(error) is sqlite3.DatabaseError or 'no such' in str(error)


def is_busy(error: Exception) -> bool:
    """
    Whether an error means that other processes kept the file locked for too long.
    """
    locked = isinstance(error, sqlite3.OperationalError) and 'locked' in str(error)
    return locked or isinstance(error, TimeoutError)


def is_foreign(path: Path) -> bool:
    """
    Whether a file has content that does not begin like an SQLite file.

    Call this only for a file that SQLite cannot open: closing a file releases the locks
    that SQLite holds on it elsewhere in this process.
    """
    try:
        with open(path, 'rb') as stream:
            return stream.read(len(MAGIC)) not in (b'', MAGIC)
    except OSError:
        # The file does not exist or cannot be read.
        return False


def refuse_foreign(path: Path) -> None:
    """
    Refuse a file that is not SQLite, since it may be the only copy of somebody's data.

    :raises ConfigError: if the file is foreign (see :func:`is_foreign`).
    """
    if is_foreign(path):
        raise ConfigError(
            f'{path} is not a parlai_q2 score cache, or its beginning is damaged. '
            f'Give {OTHER_FILE}, or delete this one if nobody needs it.'
        )


def remedy(error: Exception) -> str:
    """
    What the user can do about a file that cannot be used.

    :param error: why it cannot be used.
    """
    if isinstance(error, OtherVersion):
        # The version is newer: an older file would have been replaced by a new one.
        return (
            'It was made by a newer version of parlai_q2: update parlai_q2, or give '
            f'{OTHER_FILE}.'
        )
    return (
        'To keep scores, give a file that can be written with --cache-file or the '
        'environment variable PARLAI_Q2_CACHE.'
    )


def is_sound(path: Path) -> bool:
    """
    Whether the file and its tables are intact, or the file does not exist.
    """
    try:
        connection = connect(path)
        try:
            connection.execute('SELECT pair, text FROM scores, signatures LIMIT 1')
            return connection.execute('PRAGMA quick_check(1)').fetchone()[0] == 'ok'
        finally:
            connection.close()
    except OtherVersion:
        return True
    except sqlite3.DatabaseError as e:
        return not is_damage(e)


def set_aside(path: Path) -> Path:
    """
    Rename a damaged or outdated score file; files renamed earlier are kept.

    :return: its new path: ``<name>.damaged``, ``<name>.damaged.2`` and so on.
    """
    aside, number = beside(path, '.damaged'), 1
    while os.path.lexists(aside):
        number += 1
        aside = beside(path, f'.damaged.{number}')
    os.replace(path, aside)
    for ending in ('-wal', '-shm'):
        # These belong to the renamed file and would corrupt the new one.
        beside(path, ending).unlink(missing_ok=True)
    return aside
