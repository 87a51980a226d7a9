"""
The score cache: keeps scores in one SQLite file that many processes can read and write
at once, for any scorer.

A score is looked up by the scorer's full signature and the SHA-256 of knowledge and
response, so a score with another signature is never returned. When the file exceeds its
size limit, the least recently used scores are deleted.
"""

import hashlib
import json
import logging
import math
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from parlai_q2.cache.sqlite_file import ANOTHER, SqliteFile, number, shrink, writing
from parlai_q2.claims import Score
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.files import beside, cache_folder
from parlai_q2.scorers.shell import Pair

# An environment variable with the path of the cache, to keep it elsewhere.
VARIABLE = 'PARLAI_Q2_CACHE'
DEFAULT_MAX_BYTES = 1024**3
MIN_MAX_BYTES = 1024**2
# When the file exceeds its limit, it is reduced to this share of the limit.
EVICT_TO = 0.9
# Seconds between two updates of a row's time of use, so that reads rarely write.
USE_NOTED_EVERY = 3600
# Deletes the signatures that no score has any more.
FORGET_UNUSED = (
    'DELETE FROM signatures WHERE NOT EXISTS '
    '(SELECT 1 FROM scores WHERE signature = signatures.id)'
)

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
    Scores on disk.

    :param path: the file. It and its folder are created if needed. Default:
        :func:`default_cache_path`.
    :param max_bytes: the size limit of the file, at least :data:`MIN_MAX_BYTES`.
    :raises ConfigError: if the limit is too small; on first use, if the file belongs to
        another program or a newer version.
    """

    def __init__(
        self, path: str | Path | None = None, max_bytes: int = DEFAULT_MAX_BYTES
    ):
        if max_bytes < MIN_MAX_BYTES:
            raise ConfigError(
                f'A score cache must have at least {MIN_MAX_BYTES} bytes, not '
                f'{max_bytes}.'
            )
        self.path = default_cache_path() if path is None else Path(path).expanduser()
        self.max_bytes = max_bytes
        self.file = SqliteFile(self.path)
        self._warned = False

    def get(self, signature: str, pairs: Iterable[Pair]) -> dict[Pair, Score]:
        """The intact scores of those pairs (knowledge, response) that have one here."""
        now = int(time.time())

        def read(connection: sqlite3.Connection) -> dict[Pair, Score]:
            scores, unnoted = {}, []
            for pair in dict.fromkeys(pairs):
                key = pair_key(pair)
                # One statement: another process could reassign the id between two.
                row = connection.execute(
                    'SELECT value, checksum, used, scores.rowid FROM scores '
                    'JOIN signatures ON signatures.id = signature '
                    'WHERE text = ? AND pair = ?',
                    (signature, key),
                ).fetchone()
                score = row and decode(row[0], row[1], signature, key)
                if score:
                    scores[pair] = score
                    if not isinstance(row[2], int) or row[2] <= now - USE_NOTED_EVERY:
                        unnoted.append((now, row[3]))
            # If the file cannot be written, reading still works.
            if unnoted:
                with suppress(sqlite3.OperationalError), writing(connection):
                    note = 'UPDATE scores SET used = ? WHERE rowid = ?'
                    connection.executemany(note, unnoted)
            return scores

        return self.file.do(read, {})

    def put(self, signature: str, scores: Mapping[Pair, Score]) -> None:
        """Keep the scores of pairs, either all or none, replacing earlier ones."""
        if not scores:
            return
        if self.file.read_only:
            if not self._warned:
                self._warned = True
                _logger.warning(
                    f'The score cache {self.path} can only be read: new scores are not '
                    f'kept. To keep them, give {ANOTHER}.'
                )
            return
        now, rows = int(time.time()), []
        for pair, score in scores.items():
            key = pair_key(pair)
            rows.append((key, *encode(score, signature, key), now, signature))

        def write(connection: sqlite3.Connection) -> None:
            with writing(connection):
                connection.execute(
                    'INSERT OR IGNORE INTO signatures (text) VALUES (?)', (signature,)
                )
                connection.executemany(
                    'INSERT OR REPLACE INTO scores SELECT id, ?, ?, ?, ? '
                    'FROM signatures WHERE text = ?',
                    rows,
                )
                evicted = self._evict(connection)
            if evicted:
                shrink(connection)

        self.file.do(write, None)

    def signatures(self) -> list[StoredSignature]:
        """
        What the file holds for each signature, the one with most scores first.

        :raises ConfigError: if the file cannot be used.
        """
        query = (
            'SELECT text, count(*), sum(length(value)), max(used) FROM scores '
            'JOIN signatures ON signatures.id = signature GROUP BY signature '
            'ORDER BY count(*) DESC, text'
        )
        return self.file.do(
            lambda c: [StoredSignature(*row) for row in c.execute(query)], [], True
        )

    def clear(
        self, signature: str | None = None, unused_for: float | None = None
    ) -> int:
        """
        Delete scores.

        :param signature: delete only scores with this full signature.
        :param unused_for: delete only scores that were not used for this many seconds.
        :return: how many scores were deleted.
        :raises ConfigError: if the file cannot be used.
        """
        until = None if unused_for is None else int(time.time() - unused_for)

        def delete(connection: sqlite3.Connection) -> int:
            count = connection.execute(
                'DELETE FROM scores WHERE (:text IS NULL OR signature IN '
                '(SELECT id FROM signatures WHERE text = :text)) '
                'AND (:until IS NULL OR used <= :until)',
                {'text': signature, 'until': until},
            ).rowcount
            connection.execute(FORGET_UNUSED)
            shrink(connection)
            return count

        return self.file.do(delete, 0, True)

    def file_bytes(self) -> int:
        """The size of the cache on disk, in bytes; 0 if there is none."""
        names = (self.path, beside(self.path, '-wal'))
        return sum(path.stat().st_size for path in names if path.exists())

    def _evict(self, connection: sqlite3.Connection) -> bool:
        """Delete the least recently used rows of a file over its limit."""
        pages, free, size = (
            number(connection, f'PRAGMA {name}')
            for name in ('page_count', 'freelist_count', 'page_size')
        )
        used = (pages - free) * size
        if used <= self.max_bytes:
            return False
        rows = number(connection, 'SELECT count(*) FROM scores')
        connection.execute(
            'DELETE FROM scores WHERE rowid IN '
            '(SELECT rowid FROM scores ORDER BY used, rowid LIMIT ?)',
            (math.ceil(rows * (1 - self.max_bytes * EVICT_TO / used)),),
        )
        connection.execute(FORGET_UNUSED)
        return True


def pair_key(pair: Pair) -> bytes:
    """The SHA-256 of all texts, including where each ends."""
    knowledge, response = pair
    digest = hashlib.sha256()
    for text in (*knowledge, response):
        encoded = text.encode('utf-8', 'surrogatepass')
        digest.update(b'%d:' % len(encoded) + encoded)
    return digest.digest()


def encode(score: Score, signature: str, key: bytes) -> tuple[bytes, int]:
    """
    A score as JSON, which does not repeat the signature it is stored under, and its
    checksum.
    """
    fields = score.to_dict()
    if fields['signature'] == signature:
        del fields['signature']
    value = json.dumps(fields, allow_nan=False).encode()
    return value, compute_checksum(value, signature, key)


def compute_checksum(value: bytes, signature: str, key: bytes) -> int:
    """
    The CRC-32 of a value with its signature and key, because in a file of old and new
    parts (copied during a write) an intact value may stand under another key.
    """
    return zlib.crc32(value, zlib.crc32(key, zlib.crc32(signature.encode())))


def decode(value: object, checksum: object, signature: str, key: bytes) -> Score | None:
    """
    Read back what :func:`encode` returned; None if the value is damaged, belongs to
    another pair or signature, or is not a score.
    """
    if (
        not isinstance(value, bytes)
        or compute_checksum(value, signature, key) != checksum
    ):
        return None
    try:
        return Score.from_dict({'signature': signature, **json.loads(value)})
    except (InputError, TypeError, ValueError, RecursionError):
        # It was written by a version with other fields, or by hand.
        return None
