"""
Reads and writes the rows of an open score file.
"""

import hashlib
import sqlite3
from contextlib import suppress
from typing import Any, Iterable, NamedTuple, Optional, Sequence, TypeVar

from parlai_q2.records import Score
from parlai_q2.store.rows import decode
from parlai_q2.store.upkeep import (
    CLOCKS_DIFFER,
    evict,
    shrink,
    transaction,
    used_bytes,
)

# A row's time of use is noted at most once in so many seconds; reading stays reading.
USE_NOTED_EVERY = 3600
# Keys in one query; older SQLite takes 999 variables at most.
KEYS = 500
# Over its limit, the file is brought down to this share of it.
EVICT_TO = 0.9

T = TypeVar('T')


class StoredSignature(NamedTuple):
    """
    What a file holds of one recipe.

    :param text: the signature in full.
    :param rows: how many scores.
    :param bytes: the length of their values together.
    :param used: when the last of them was used, in seconds since 1970.
    """

    text: str
    rows: int
    bytes: int
    used: int

    @property
    def short(self) -> str:
        """
        The ten digits that ``Signature.short`` has for the same recipe.
        """
        return hashlib.sha256(self.text.encode()).hexdigest()[:10]


def read(
    connection: sqlite3.Connection, signature: str, keys: Sequence[bytes], now: int
) -> dict[bytes, Score]:
    """
    The scores that are there and whole; that they were used is noted.

    :param signature: a scorer's signature in full.
    :param keys: keys of pairs, any number.
    :param now: the time, in seconds since 1970.
    """
    found: dict[bytes, Score] = {}
    unnoted: list[int] = []
    for some in _portions(keys):
        # One statement: an id may be another signature's in the next.
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
    # Where nothing can be written, reading goes on.
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
    Write rows, all or none, and see to the file's size.

    :param rows: key, value, checksum and time of use, which is now; at least one.
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
    Delete the rows that both conditions hold for; None holds for all.

    :param now: the time; rows that were used long after it, by a clock that was wrong,
        meet any condition on it.
    :return: how many there were.
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
    What is there by recipe, the most rows first.
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
