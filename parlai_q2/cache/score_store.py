"""
Stores scores in one SQLite file that many processes can read and write at once.

A score is looked up by the scorer's full signature and the SHA-256 of knowledge and
response, so a score with another signature is never returned. When the file exceeds its
size limit, the least recently used scores are deleted. A damaged file is renamed and a
new one is started. A file that is not SQLite may be somebody else's data and is
refused. If the file cannot be used at all (a read-only folder, a full disk, tables of a
newer version), the store warns once, and scoring continues without it.
"""

import logging
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, TypeVar, Union

from parlai_q2.cache import table, upkeep
from parlai_q2.cache.location import default_store_path
from parlai_q2.cache.rows import Pair, encode, pair_key
from parlai_q2.cache.schema import BUSY_TIMEOUT, VERSION, OtherVersion, connect
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import beside, locked
from parlai_q2.records import Score

DEFAULT_MAX_BYTES = 1024**3
MIN_MAX_BYTES = 1024**2
# Required endings, so that nobody names a data file as the cache by mistake.
ENDINGS = ('.sqlite', '.sqlite3', '.db')

T = TypeVar('T')

_logger = logging.getLogger(__name__)
# Connections of a parent process, which a forked child may neither use nor close.
_inherited: list[sqlite3.Connection] = []


class ScoreStore:
    """
    Scores on disk. Each process opens the file on first use.

    :param path: the file, ending in ``.sqlite``, ``.sqlite3`` or ``.db``. It and its
        folder are created if needed. Default: :func:`default_store_path`.
    :param max_bytes: the size limit of the file, at least :data:`MIN_MAX_BYTES`.
    :param clock: returns the time in seconds since 1970.
    :raises ConfigError: if the path has another ending or the limit is too small; on
        first use, if the file belongs to another program.
    """

    def __init__(
        self,
        path: Union[str, Path, None] = None,
        max_bytes: int = DEFAULT_MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ):
        self.path = default_store_path() if path is None else Path(path).expanduser()
        if self.path.suffix.lower() not in ENDINGS:
            raise ConfigError(
                f'The name of a score cache must end in one of '
                f'{", ".join(ENDINGS)}, and {self.path} does not. Give another file: '
                '--cache-file scores.sqlite'
            )
        if max_bytes < MIN_MAX_BYTES:
            raise ConfigError(
                f'A score cache must have at least {MIN_MAX_BYTES} bytes, not '
                f'{max_bytes}.'
            )
        self.max_bytes, self.clock = max_bytes, clock
        # Becomes False when the file turns out to be unusable.
        self.usable = True
        self._connection: Optional[sqlite3.Connection] = None
        self._forget()

    def get(self, signature: str, pairs: Iterable[Pair]) -> dict[Pair, Score]:
        """
        Look up scores.

        :param signature: the full signature of a scorer.
        :param pairs: any number of pairs (knowledge, response).
        :return: maps each pair that the store has to its score.
        """
        keys = {pair_key(pair): pair for pair in pairs}
        if not keys:
            return {}
        now = int(self.clock())
        nothing: dict[bytes, Score] = {}
        found = self._do(lambda c: table.read(c, signature, list(keys), now), nothing)
        return {keys[key]: score for key, score in found.items()}

    def put(self, signature: str, scores: Mapping[Pair, Score]) -> None:
        """
        Store scores, either all or none of them, replacing those of the same pairs.

        :param signature: the full signature of the scorer.
        :param scores: maps pairs (knowledge, response) to scores.
        """
        if not scores:
            return
        now = int(self.clock())
        rows = [
            (key, *encode(score, signature, key), now)
            for pair, score in scores.items()
            for key in [pair_key(pair)]
        ]
        self._do(lambda c: table.write(c, signature, rows, self.max_bytes), None)

    def signatures(self) -> list[table.StoredSignature]:
        """
        What the file holds for each signature, the one with most scores first.

        :raises ConfigError: if the file cannot be used.
        """
        return self._do(table.signatures, [], needed=True)

    def clear(
        self, signature: Optional[str] = None, unused_for: Optional[float] = None
    ) -> int:
        """
        Delete scores.

        :param signature: delete only scores with this full signature; None for any.
        :param unused_for: delete only scores that were not used for this many seconds;
            None for any.
        :return: how many scores were deleted.
        :raises ConfigError: if the file cannot be used.
        """
        now = int(self.clock())
        until = None if unused_for is None else int(now - unused_for)
        return self._do(
            lambda c: table.delete(c, signature, until, now), 0, needed=True
        )

    def file_bytes(self) -> int:
        """
        The size of the cache on disk, in bytes; 0 if there is none.
        """
        names = (self.path, beside(self.path, '-wal'))
        return sum(path.stat().st_size for path in names if path.exists())

    def close(self) -> None:
        """
        Close the file; the next use opens it again.
        """
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
                self._connection = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process opens the file itself.
        kept = ('path', 'max_bytes', 'clock', 'usable')
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._connection = None
        self._forget()

    def _forget(self) -> None:
        if self._connection is not None:
            _inherited.append(self._connection)
            self._connection = None
        self._process = os.getpid()
        # After a fork, the parent's lock may be held by a thread that does not exist
        # in this process.
        self._lock = threading.Lock()

    def _do(
        self,
        action: Callable[[sqlite3.Connection], T],
        otherwise: T,
        needed: bool = False,
    ) -> T:
        if self._process != os.getpid():
            self._forget()
        with self._lock:
            for attempt in range(2):
                if not (self.usable or needed):
                    break
                try:
                    if self._connection is None:
                        self._connection = self._open()
                    return action(self._connection)
                except (sqlite3.Error, OSError, OtherVersion) as e:
                    if upkeep.is_busy(e):
                        busy = f'The score cache {self.path} is busy: {e}.'
                        if needed:
                            raise ConfigError(f'{busy} Try again later.') from e
                        _logger.warning(busy)
                        break
                    self._recover(e, attempt > 0, needed)
        return otherwise

    def _open(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path, BUSY_TIMEOUT):
            try:
                return connect(self.path)
            except (sqlite3.Error, OtherVersion) as e:
                outdated = isinstance(e, OtherVersion) and e.version < VERSION
                if not (outdated or upkeep.is_damage(e)):
                    raise
                upkeep.refuse_foreign(self.path)
                self._begin_anew(e)
                return connect(self.path)

    def _recover(self, error: Exception, last: bool, needed: bool) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if not last and upkeep.is_damage(error):
            # Opening does not find all damage. Set the file aside here, unless another
            # process has already done so.
            with locked(self.path, BUSY_TIMEOUT):
                if not upkeep.is_sound(self.path):
                    # The file was ours when it was opened, so do not end the run.
                    last = upkeep.is_foreign(self.path)
                    if not last:
                        self._begin_anew(error)
        if last:
            self.usable = False
            remedy = upkeep.remedy(error)
            if needed:
                raise ConfigError(
                    f'The score cache {self.path} cannot be used ({error}). {remedy}'
                ) from error
            _logger.warning(
                f'Scoring goes on without the score cache {self.path} ({error}). '
                f'{remedy}'
            )

    def _begin_anew(self, error: Exception) -> None:
        aside = upkeep.set_aside(self.path)
        _logger.warning(
            f'The score cache {self.path} cannot be read ({error}). It was '
            f'renamed to {aside.name} and a new one was started; scores are '
            'computed again.'
        )
