"""
Reads and writes the rows of an open score file.
"""

import hashlib
import sqlite3
from contextlib import suppress
from typing import Any, Iterable, NamedTuple, Optional, Sequence, TypeVar

from parlai_q2.cache.rows import decode
from parlai_q2.cache.upkeep import (
    CLOCKS_DIFFER,
    evict,
    shrink,
    transaction,
    used_bytes,
)
from parlai_q2.records import Score

# Seconds between two updates of a row's time of use, so that reads rarely write.
USE_NOTED_EVERY = 3600
# Keys per query; older versions of SQLite allow at most 999 variables.
KEYS = 500
# When the file exceeds its limit, it is reduced to this share of the limit.
EVICT_TO = 0.9

T = TypeVar('T')


class StoredSignature(NamedTuple):
    """
    What a file holds for one signature.

    :param text: the full signature.
    :param rows: the number of scores.
    :param bytes: the total length of their values.
    :param used: when one of them was last used, in seconds since 1970.
    """

    text: str
    rows: int
    bytes: int
    used: int

    @property
    def short(self) -> str:
        """
        The short hash of the signature, equal to ``Signature.short``.
        """
        return hashlib.sha256(self.text.encode()).hexdigest()[:10]


def read(
    connection: sqlite3.Connection, signature: str, keys: Sequence[bytes], now: int
) -> dict[bytes, Score]:
    """
    Read the scores that the file has intact, and update their time of use.

    :param signature: the full signature of a scorer.
    :param keys: any number of keys of pairs.
    :param now: the time, in seconds since 1970.
    :return: maps each key that was found to its score.
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
                if used <= now - USE_NOTED_EVERY or used > now + CLOCKS_DIFFER:
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

    :param signature: the full signature of the scorer.
    :param rows: key, value, checksum and time of use (now) of each row, at least one.
    :param max_bytes: the size limit of the file.
    """
    with transaction(connection):
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
            evict(connection, max_bytes * EVICT_TO, max(row[3] for row in rows))
    if over:
        shrink(connection)


def delete(
    connection: sqlite3.Connection,
    signature: Optional[str],
    used_until: Optional[int],
    now: int,
) -> int:
    """
    Delete the rows that meet both conditions.

    :param signature: the full signature; None for any.
    :param used_until: the latest time of last use; None for any.
    :param now: the time, in seconds since 1970. A time of use long after it came from a
        wrong clock, and meets any ``used_until``.
    :return: the number of rows deleted.
    """
    count = connection.execute(
        'DELETE FROM scores WHERE (:text IS NULL OR signature IN '
        '(SELECT id FROM signatures WHERE text = :text)) '
        'AND (:until IS NULL OR used <= :until OR used > :wrong)',
        {'text': signature, 'until': used_until, 'wrong': now + CLOCKS_DIFFER},
    ).rowcount
    shrink(connection)
    return count


def signatures(connection: sqlite3.Connection) -> list[StoredSignature]:
    """
    What the file holds for each signature, the one with most rows first.
    """
    rows = connection.execute(
        'SELECT text, count(*), sum(length(value)), max(used) FROM scores '
        'JOIN signatures ON signatures.id = signature GROUP BY signature '
        'ORDER BY count(*) DESC, text'
    )
    return [StoredSignature(*row) for row in rows]


def _portions(values: Sequence[T]) -> Iterable[Sequence[T]]:
    return (values[start : start + KEYS] for start in range(0, len(values), KEYS))


def _marks(values: Sequence[Any]) -> str:
    return ','.join('?' * len(values))
