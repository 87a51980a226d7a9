"""
What a run hands its records to: a job, which is loaded once (in this process, or in
each actor of a cluster) and then turns chunks of records into results.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import Any, NamedTuple, Protocol

from parlai_q2.errors import Flaw, RecordError
from parlai_q2.io.read import FileRecord
from parlai_q2.json_values import JsonMapping

# Records in one call of a scorer: enough to fill a model's batches, few enough that a
# run which is killed often still gets further.
CHUNK_RECORDS = 256
# A chunk is closed early once its texts have this many characters. A killed run loses
# one chunk, so a file with long texts must not need minutes for one.
CHUNK_CHARACTERS = 128 * 1024
# How many chunks are worked on at once: the models read one, while Python prepares the
# other. Chunks with fewer records are worked on one at a time.
CALLS, LEAST_AHEAD = 2, 64
# How deep lists and objects may be nested. The limits of Python's pickle and JSON
# depend on what else is on the stack, so a deeper record might pass in one process and
# end the run of another.
MAX_DEPTH = 200
TOO_DEEP = (
    f'nests lists or objects more than {MAX_DEPTH} levels deep. Leave such fields out, '
    'or give them as text.'
)


class Loaded(NamedTuple):
    """
    A loaded job.

    :param signature: how its results are made; equal wherever the job is loaded.
    :param process: the results of some items, in order. One call with many items gives
        what many calls with one would.
    :param is_thread_safe: whether several threads may call it at once.
    """

    signature: str
    process: Callable[[Sequence[Any]], list[Any]]
    is_thread_safe: bool = False


class Job(Protocol):
    """What can be sent to another process (by pickle) and loaded there."""

    def load(self, device: str | None = None) -> Loaded:
        """
        Load what the work needs.

        :param device: a torch device's name; None for the job's own.
        """

    def report_lost(self, item: Any, problem: str) -> Any:
        """The result of an item that no process survives."""


class Engine(Protocol):
    """Runs a job over chunks: in this process, or on a cluster."""

    signature: str

    def run(
        self, chunks: Iterator[Any]
    ) -> Generator[tuple[Any, list[Any]], None, None]:
        """
        Yield each chunk with the results of its ``items``, in order. Chunks are read
        only as they are needed. Closing the generator stops the work.
        """

    def __enter__(self) -> 'Engine': ...

    def __exit__(self, *error: Any) -> None: ...


class LocalEngine:
    """
    Runs a job in this process. While the models read one chunk, another is prepared or
    written, if the job's function may run in several threads at once.
    """

    def __init__(self, job: Job):
        self.signature, self._process, is_thread_safe = job.load()
        self._calls = CALLS if is_thread_safe else 1

    def run(
        self, chunks: Iterator[Any]
    ) -> Generator[tuple[Any, list[Any]], None, None]:
        """Yield each chunk with its results."""
        if self._calls == 1:
            for chunk in chunks:
                yield chunk, self._process(chunk.items)
            return
        under_way: deque[tuple[Any, Future[list[Any]]]] = deque()
        with ThreadPoolExecutor(self._calls, 'models') as threads:
            try:
                for chunk in chunks:
                    future = threads.submit(self._process, chunk.items)
                    under_way.append((chunk, future))
                    # Of a small chunk, somebody may be waiting for the results.
                    is_small = len(chunk.items) < LEAST_AHEAD
                    while len(under_way) >= (1 if is_small else self._calls):
                        first, results = under_way.popleft()
                        yield first, results.result()
                while under_way:
                    first, results = under_way.popleft()
                    yield first, results.result()
            finally:
                for _, results in under_way:
                    results.cancel()

    def __enter__(self) -> 'LocalEngine':
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing was started."""


class Chunk(NamedTuple):
    """
    Consecutive records of a file, which a scorer sees in one call.

    :param items: the records.
    :param end: how many bytes of the file had been read by the end of the chunk.
    """

    items: Sequence[FileRecord]
    end: int

    @property
    def nulled(self) -> list[str]:
        """The fields with NaN or Infinity of each record, one after the other."""
        return list(chain.from_iterable(record.nulled for record in self.items))


def cut_chunks(
    records: Iterator[FileRecord],
    size: int = CHUNK_RECORDS,
    characters: int = CHUNK_CHARACTERS,
) -> Iterator[Chunk]:
    """
    Cut records into chunks, reading them only as needed.

    Where a chunk ends depends on the file alone, so the scorer sees the same records
    together however often a run is stopped and wherever a chunk is processed.

    :param size: the maximum number of records in a chunk, at least 1.
    :param characters: close a chunk once its texts are this long, at least 1.
    """
    items: list[FileRecord] = []
    total = 0
    for record in records:
        length = measure_length(record.fields)
        if length is None or _is_unreadable(record):
            error = RecordError(record.source, record.line, TOO_DEEP)
            record, length = record.without_content(error), 0
        items.append(record)
        total += length
        if len(items) >= size or total >= characters:
            yield Chunk(items, record.read)
            items, total = [], 0
    if items:
        yield Chunk(items, items[-1].read)


def measure_length(fields: JsonMapping) -> int | None:
    """
    The characters in a record's values, those of the other fields once for each of its
    ``candidates``; None if the values are nested deeper than :data:`MAX_DEPTH`.

    >>> measure_length({'knowledge': 'bees', 'candidates': ['yes', 'no'], 'id': 1})
    13
    """
    candidates = fields.get('candidates')
    copies = max(1, len(candidates)) if isinstance(candidates, list) else 1
    values = [value for name, value in fields.items() if name != 'candidates']
    lengths = _count_characters(values), _count_characters([candidates])
    if lengths[0] is None or lengths[1] is None:
        return None
    return copies * lengths[0] + lengths[1]


def _count_characters(values: list[Any]) -> int | None:
    total = 0
    for _ in range(MAX_DEPTH):
        total += sum(len(value) for value in values if isinstance(value, str))
        values = _unnest(values)
        if not values:
            return total
    return None if any(isinstance(v, (dict, list)) for v in values) else total


def _unnest(values: list[Any]) -> list[Any]:
    """The values that lists and objects hold."""
    inner: list[Any] = []
    for value in values:
        if isinstance(value, dict):
            inner.extend(value.values())
        elif isinstance(value, list):
            inner.extend(value)
    return inner


def _is_unreadable(record: FileRecord) -> bool:
    return record.error is not None and record.error.flaw is Flaw.TOO_DEEP
