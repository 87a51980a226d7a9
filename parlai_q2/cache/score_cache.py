"""
The score cache: keeps scores in one SQLite file that many processes can read and write
at once, and wraps any scorer with it.

A score is looked up by the scorer's full signature and the SHA-256 of knowledge and
response, so a score with another signature is never returned. When the file exceeds its
size limit, the least recently used scores are deleted. A damaged file is renamed and a
new one is started. A file that is not SQLite may be somebody else's data and is
refused. A file that can only be read is read, and new scores are not kept. If the file
cannot be used at all (a full disk, tables of a newer version), the cache warns once,
and scoring continues without it.
"""

import logging
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, TypeVar, Union

from parlai_q2.cache import sqlite_file
from parlai_q2.cache.rows import Pair, encode, pair_key
from parlai_q2.cache.sqlite_file import OtherVersion, StoredSignature
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import beside, cache_folder, locked
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer, StandInScorer

# An environment variable with the path of the cache, to keep it elsewhere.
VARIABLE = 'PARLAI_Q2_CACHE'
DEFAULT_MAX_BYTES = 1024**3
MIN_MAX_BYTES = 1024**2
# Required endings, so that nobody names a data file as the cache by mistake.
ENDINGS = ('.sqlite', '.sqlite3', '.db')
OTHER_FILE = f'another file with --cache-file or the environment variable {VARIABLE}'
WRITABLE_FILE = (
    'To keep scores, give a file that can be written with --cache-file or the '
    f'environment variable {VARIABLE}.'
)
# Scores per write: about as many as a killed run can lose, and enough to fill many
# batches of a model.
CHUNK = 256

T = TypeVar('T')

_logger = logging.getLogger(__name__)
# Connections of a parent process, which a forked child may neither use nor close.
_inherited: list[sqlite3.Connection] = []


def default_cache_path() -> Path:
    """
    ``$PARLAI_Q2_CACHE``, else ``scores.sqlite`` in
    :func:`~parlai_q2.io.files.cache_folder`.
    """
    given = os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else cache_folder() / 'scores.sqlite'


class CachedScorer(StandInScorer[Scorer]):
    """
    Takes scores from a cache, and computes only those that it does not have, ``chunk``
    examples per call of the scorer and per write to the cache.
    """

    def __init__(self, scorer: Scorer, cache: 'ScoreCache', chunk: int = CHUNK):
        super().__init__(scorer)
        self.cache, self.chunk = cache, chunk
        # How many responses were found in the cache, and how many had to be scored.
        self.hits = self.misses = 0

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature = str(self.signature)
        pairs = [(e.knowledge, e.response) for e in examples]
        scores = self.cache.get(signature, pairs)
        missing = [
            example for pair, example in zip(pairs, examples) if pair not in scores
        ]
        self.hits += len(examples) - len(missing)
        self.misses += len(missing)
        for some in portions(missing, self.chunk):
            made = {
                (example.knowledge, example.response): score
                for example, score in zip(some, self.scorer.score(some), strict=True)
            }
            self.cache.put(signature, made)
            scores.update(made)
        return [scores[pair] for pair in pairs]


def portions(examples: Sequence[Example], size: int) -> list[Sequence[Example]]:
    """
    Split examples into portions. If fewer than ``size / 2`` are left over, they join
    the last portion, because a few responses alone would not fill a batch.
    """
    starts = list(range(0, len(examples), size))
    if len(starts) > 1 and len(examples) - starts[-1] < size / 2:
        starts.pop()
    return [examples[a:b] for a, b in zip(starts, [*starts[1:], len(examples)])]


class ScoreCache:
    """
    Scores on disk. Each process opens the file on first use.

    :param path: the file, ending in ``.sqlite``, ``.sqlite3`` or ``.db``. It and its
        folder are created if needed. Default: :func:`default_cache_path`.
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
        self.path = default_cache_path() if path is None else Path(path).expanduser()
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
        self._warned = False
        self._connection: Optional[sqlite3.Connection] = None
        self._forget()

    def get(self, signature: str, pairs: Iterable[Pair]) -> dict[Pair, Score]:
        """The scores of those pairs (knowledge, response) that have one here."""
        keys = {pair_key(pair): pair for pair in pairs}
        if not keys:
            return {}
        now = int(self.clock())
        nothing: dict[bytes, Score] = {}
        found = self._do(
            lambda c: sqlite_file.read(c, signature, list(keys), now), nothing
        )
        return {keys[key]: score for key, score in found.items()}

    def put(self, signature: str, scores: Mapping[Pair, Score]) -> None:
        """Keep the scores of pairs, either all or none, replacing earlier ones."""
        if not scores:
            return
        now = int(self.clock())
        rows = [
            (key, *encode(score, signature, key), now)
            for pair, score in scores.items()
            for key in [pair_key(pair)]
        ]
        if self._only_read():
            if not self._warned:
                self._warned = True
                _logger.warning(
                    f'The score cache {self.path} can only be read: new scores are not '
                    f'kept. {WRITABLE_FILE}'
                )
            return
        self._do(lambda c: sqlite_file.write(c, signature, rows, self.max_bytes), None)

    def signatures(self) -> list[StoredSignature]:
        """
        What the file holds for each signature, the one with most scores first.

        :raises ConfigError: if the file cannot be used.
        """
        return self._do(sqlite_file.signatures, [], needed=True)

    def clear(
        self, signature: Optional[str] = None, unused_for: Optional[float] = None
    ) -> int:
        """
        Delete scores.

        :param signature: delete only scores with this full signature.
        :param unused_for: delete only scores that were not used for this many seconds.
        :return: how many scores were deleted.
        :raises ConfigError: if the file cannot be used.
        """
        until = None if unused_for is None else int(self.clock() - unused_for)
        return self._do(
            lambda c: sqlite_file.delete(c, signature, until), 0, needed=True
        )

    def file_bytes(self) -> int:
        """The size of the cache on disk, in bytes; 0 if there is none."""
        names = (self.path, beside(self.path, '-wal'))
        return sum(path.stat().st_size for path in names if path.exists())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._process == os.getpid():
                self._connection.close()
                self._connection = None

    def __getstate__(self) -> dict[str, Any]:
        # Another process opens the file itself.
        kept = ('path', 'max_bytes', 'clock', 'usable', '_warned')
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
                except (sqlite3.Error, UnicodeDecodeError, OSError, OtherVersion) as e:
                    if sqlite_file.is_busy(e):
                        busy = f'The score cache {self.path} is busy: {e}.'
                        if needed:
                            raise ConfigError(f'{busy} Try again later.') from e
                        _logger.warning(busy)
                        break
                    self._recover(e, attempt > 0, needed)
        return otherwise

    def _open(self) -> sqlite3.Connection:
        if self._only_read():
            return sqlite_file.connect(self.path, read_only=True)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path, sqlite_file.BUSY_TIMEOUT):
            try:
                return sqlite_file.connect(self.path)
            except (sqlite3.Error, UnicodeDecodeError, OtherVersion) as e:
                version = getattr(e, 'version', sqlite_file.VERSION)
                outdated = version < sqlite_file.VERSION
                if not (outdated or sqlite_file.is_damage(e)):
                    raise
                self._refuse_foreign()
                self._begin_anew(e)
                return sqlite_file.connect(self.path)

    def _only_read(self) -> bool:
        """Whether the file can be read but neither written nor renamed."""
        places = (self.path, self.path.parent)
        return self.path.is_file() and not all(os.access(p, os.W_OK) for p in places)

    def _refuse_foreign(self) -> None:
        # It may be the only copy of somebody's data.
        if sqlite_file.is_foreign(self.path):
            raise ConfigError(
                f'{self.path} is not a parlai_q2 score cache, or its beginning is '
                f'damaged. Give {OTHER_FILE}, or delete this one if nobody needs it.'
            )

    def _recover(self, error: Exception, last: bool, needed: bool) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        last |= self._only_read()
        if not last and sqlite_file.is_damage(error):
            # Opening does not find all damage. Set the file aside here, unless another
            # process has already done so.
            with locked(self.path, sqlite_file.BUSY_TIMEOUT):
                if not sqlite_file.is_sound(self.path):
                    # The file was ours when it was opened, so do not end the run.
                    last = sqlite_file.is_foreign(self.path)
                    if not last:
                        self._begin_anew(error)
        if last:
            self.usable = False
            remedy = WRITABLE_FILE
            if isinstance(error, OtherVersion):
                # It is newer: an older file would have been replaced by a new one.
                remedy = (
                    'It was made by a newer version of parlai_q2: update parlai_q2, or '
                    f'give {OTHER_FILE}.'
                )
            if needed:
                raise ConfigError(
                    f'The score cache {self.path} cannot be used ({error}). {remedy}'
                ) from error
            _logger.warning(
                f'Scoring goes on without the score cache {self.path} ({error}). '
                f'{remedy}'
            )

    def _begin_anew(self, error: Exception) -> None:
        """
        Rename a damaged or outdated file to ``<name>.damaged``, ``<name>.damaged.2``
        and so on.
        """
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
