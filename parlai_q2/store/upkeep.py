"""
Keeps a score file sound and within its limit.
"""

import math
import os
import sqlite3
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from parlai_q2.errors import ConfigError
from parlai_q2.files.write import beside
from parlai_q2.store.schema import OtherVersion, connect

# Seconds by which clocks may differ without one of them being called wrong.
CLOCKS_DIFFER = 3600
# What every SQLite file begins with.
MAGIC = b'SQLite format 3\0'
OTHER_FILE = (
    'another file with --cache-file or the environment variable PARLAI_Q2_CACHE'
)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """
    Makes several statements one, waiting for other writers before the first.
    """
    connection.execute('BEGIN IMMEDIATE')
    try:
        yield
        connection.execute('COMMIT')
    finally:
        # A full disk may have rolled it back already, or only refused the commit.
        if connection.in_transaction:
            connection.execute('ROLLBACK')


def used_bytes(connection: sqlite3.Connection) -> int:
    """
    Bytes of the file that hold something.
    """
    pages, free, size = (
        connection.execute(f'PRAGMA {name}').fetchone()[0]
        for name in ('page_count', 'freelist_count', 'page_size')
    )
    return (pages - free) * size


def evict(connection: sqlite3.Connection, target: float, now: int) -> None:
    """
    Delete the longest unused rows until at most ``target`` bytes are used.

    :param now: the time, in seconds since 1970. What was used later than that was so by
        a clock that was wrong (by more than the machines of a network differ), and is
        not to outlive what is used now.
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
    Give the pages that hold nothing back to the disk.
    """
    connection.execute(
        'DELETE FROM signatures WHERE id NOT IN (SELECT signature FROM scores)'
    )
    # Every page that is freed is a step of this statement: execute() takes only one.
    connection.executescript('PRAGMA incremental_vacuum;')
    connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchall()


def is_damage(error: Exception) -> bool:
    """
    Whether an error says that the file's content is broken, and not its surroundings.
    """
    # SQLite's "malformed" and "not a database" come as the bare base class.
    return type(error) is sqlite3.DatabaseError or 'no such' in str(error)


def is_busy(error: Exception) -> bool:
    """
    Whether other processes were writing for longer than one waits.
    """
    locked = isinstance(error, sqlite3.OperationalError) and 'locked' in str(error)
    return locked or isinstance(error, TimeoutError)


def is_foreign(path: Path) -> bool:
    """
    Whether a file has content, and it does not begin as SQLite's.

    Only for a file that SQLite does not take: closing a file gives back the locks that
    SQLite holds on it elsewhere in this process.
    """
    try:
        with open(path, 'rb') as stream:
            return stream.read(len(MAGIC)) not in (b'', MAGIC)
    except OSError:
        # There is none, or it cannot be read.
        return False


def refuse_foreign(path: Path) -> None:
    """
    Leave alone what may be somebody's only copy.

    :raises ConfigError: when a file is foreign.
    """
    if is_foreign(path):
        raise ConfigError(
            f'{path} is not a parlai_q2 score cache, or its beginning is damaged. '
            f'Give {OTHER_FILE}, or delete this one if nobody needs it.'
        )


def remedy(error: Exception) -> str:
    """
    What to do about a file that cannot be used.

    :param error: why it cannot be used.
    """
    if isinstance(error, OtherVersion):
        # One of an older version is begun anew.
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
    Whether SQLite finds a whole file and its tables in order, or there is none.
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
    Rename a score file; those that were set aside before are kept.

    :return: its new path: ``<name>.damaged``, or ``<name>.damaged.2`` and so on.
    """
    aside, number = beside(path, '.damaged'), 1
    while os.path.lexists(aside):
        number += 1
        aside = beside(path, f'.damaged.{number}')
    os.replace(path, aside)
    for ending in ('-wal', '-shm'):
        # They belong to the file that is gone, and would spoil the next.
        beside(path, ending).unlink(missing_ok=True)
    return aside
