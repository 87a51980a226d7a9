"""
Processes a file: reads a chunk of records, lets a job process it, appends the lines,
and finally gives the output its name. A run that was stopped resumes after the last
chunk that was written whole.

A job is loaded once, in this process or in each actor of a cluster, and then turns
chunks of records into lines. An engine runs it.
"""

import json
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from parlai_q2.claims import Kind
from parlai_q2.errors import Flaw, InputError, RecordError
from parlai_q2.io.files import Location, read_state
from parlai_q2.io.parquet import ParquetColumn, is_parquet, write_parquet
from parlai_q2.io.read import CHUNK_CHARACTERS, Record
from parlai_q2.io.write import ResumableWriter, StdoutWriter, encode_line
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.output_records import error_line
from parlai_q2.runs.outputs import FilePair, identify

# The number of records in one call of a scorer: enough to fill a model's batches, few
# enough that a run that is often killed still makes progress.
CHUNK_RECORDS = 256
# The number of chunks in progress: the models read one, while Python prepares the
# other. Chunks with fewer records are processed one at a time.
CALLS, LEAST_AHEAD = 2, 64
# The maximum nesting of lists and objects. The limits of Python's pickle and JSON
# depend on the stack, so a deeper record might pass in one process and crash another.
MAX_DEPTH = 200
TOO_DEEP = (
    f'nests lists or objects more than {MAX_DEPTH} levels deep. Leave such fields out, '
    'or give them as text.'
)
Line = JsonObject


# What an engine is given with a chunk of items, and gives back with its results.
Tag = TypeVar('Tag')


class Loaded(NamedTuple):
    """
    A loaded job.

    :param signature: the signature of its results; equal wherever the job is loaded.
    :param process: returns the results of some items, in order. One call with many
        items gives the same results as many calls with one.
    :param is_thread_safe: whether several threads may call it at once.
    """

    signature: str
    process: Callable[[Sequence[Any]], list[Any]]
    is_thread_safe: bool = False


class Job(Protocol):
    """A job that can be sent to another process (by pickle) and loaded there."""

    def load(self, device: str | None = None) -> Loaded:
        """Load the job's models, on a torch device or the job's own."""

    def report_lost(self, item: Any, problem: str) -> Any:
        """Return the result for an item that crashes every process."""


class JobEngine(AbstractContextManager['JobEngine']):
    """Runs a job over chunks: in this process, or on a cluster."""

    signature: str

    @abstractmethod
    def run(
        self, chunks: Iterator[tuple[Tag, Sequence[Any]]]
    ) -> Generator[tuple[Tag, list[Any]], None, None]:
        """
        Process chunks of items, each with a tag: yield each tag with the results, in
        order. Chunks are read only as they are needed. Closing the generator stops the
        work.
        """

    def __exit__(self, *error: object) -> None:
        """Stop everything that was started for the job."""


class LocalEngine(JobEngine):
    """
    Runs a job in this process. While the models read one chunk, another is prepared or
    written, if the job is thread-safe.
    """

    def __init__(self, job: Job):
        self.signature, self._process, is_thread_safe = job.load()
        self._calls = CALLS if is_thread_safe else 1

    def run(
        self, chunks: Iterator[tuple[Tag, Sequence[Any]]]
    ) -> Generator[tuple[Tag, list[Any]], None, None]:
        if self._calls == 1:
            for tag, items in chunks:
                yield tag, self._results(items)
            return
        under_way: deque[tuple[Tag, Future[list[Any]]]] = deque()
        with ThreadPoolExecutor(self._calls, 'models') as threads:
            try:
                for tag, items in chunks:
                    under_way.append((tag, threads.submit(self._results, items)))
                    # Somebody may be waiting for the results of a small chunk.
                    is_small = 0 < len(items) < LEAST_AHEAD
                    while len(under_way) >= (1 if is_small else self._calls):
                        first, results = under_way.popleft()
                        yield first, results.result()
                while under_way:
                    first, results = under_way.popleft()
                    yield first, results.result()
            finally:
                for _, results in under_way:
                    results.cancel()

    def _results(self, items: Sequence[Any]) -> list[Any]:
        return self._process(items) if items else []


# Consecutive records of a file for one call of a scorer.
Chunk = list[Record]


def cut_chunks(
    records: Iterator[Record],
    size: int = CHUNK_RECORDS,
    characters: int = CHUNK_CHARACTERS,
) -> Iterator[Chunk]:
    """
    Cut records into chunks with limits on records and characters. The cuts depend only
    on the file: the scorer gets the same records together however often a run is
    stopped and wherever a chunk is processed.
    """
    chunk, total = [], 0
    for record in records:
        is_too_deep = record.error is not None and record.error.flaw is Flaw.TOO_DEEP
        try:
            length = measure_length(record.fields)
        except RecursionError:
            is_too_deep = True
        if is_too_deep:
            error = RecordError(record.source, record.line, TOO_DEEP)
            record = replace(record, fields={}, parsed=None, error=error, nulled=())
            length = 0
        chunk.append(record)
        total += length
        if len(chunk) >= size or total >= characters:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def measure_length(fields: JsonMapping) -> int:
    """
    Count the characters in a record's values, other fields once for each of its
    ``candidates``; RecursionError for values nested deeper than :data:`MAX_DEPTH`.

    >>> measure_length({'knowledge': 'bees', 'candidates': ['yes', 'no'], 'id': 1})
    13
    """
    candidates = fields.get('candidates')
    copies = max(1, len(candidates)) if isinstance(candidates, list) else 1
    lengths = {name: _count_characters(value) for name, value in fields.items()}
    of_candidates = lengths.pop('candidates', 0)
    return copies * sum(lengths.values()) + of_candidates


def _count_characters(value: object, depth: int = 1) -> int:
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, (dict, list)):
        return 0
    if depth > MAX_DEPTH:
        raise RecursionError
    total = 0
    for inner in value.values() if isinstance(value, dict) else value:
        total += _count_characters(inner, depth + 1)
    return total


class Tally(ABC):
    """
    Counts records by their lines, in the order of the file, so that sums are the same
    to the last bit however a run was stopped or distributed.

    :ivar good: the number of records without an error.
    :ivar nulled: how many had NaN or Infinity in a field, where null was written.
    """

    def __init__(self) -> None:
        self.records = self.good = 0
        self.nulled: Counter[str] = Counter()

    def add(self, lines: Iterable[Line], records: Iterable[Record]) -> None:
        """Add the lines of records."""
        for record in records:
            self.nulled.update(record.nulled)
        for line in lines:
            self.records += 1
            if line['kind'] != Kind.ERROR:
                self.good += 1
                self.count(line)

    @abstractmethod
    def count(self, line: Line) -> None:
        """Count what the line of a record without an error says."""

    @abstractmethod
    def summary(self) -> JsonObject:
        """The counts by name."""

    @abstractmethod
    def describe(self) -> str:
        """The counts as text for people."""


class FileJob(Job):
    """
    A job over the records of files.

    :cvar unit: the word for records in messages: ``records`` or the like.
    :cvar participle: a word for processed ones: ``scored`` or the like.
    :cvar signature_field: the field of the first good line that has the signature, if
        not every line has it.
    :cvar columns: the columns of each Parquet file, with their kinds.
    :cvar kind: the kind of a line without an error.
    :cvar tally: the class that counts the lines of a file.
    :ivar names: the names that fields have in the file, by those they are read by.
    """

    unit: ClassVar[str]
    participle: ClassVar[str]
    signature_field: ClassVar[str | None] = None
    columns: ClassVar[Mapping[str, ParquetColumn]] = {}
    kind: ClassVar[Kind]
    tally: ClassVar[type[Tally]]
    names: Mapping[str, str]

    @abstractmethod
    def read(self, path: Location, format: str | None) -> Iterator[Record]:
        """Read the records of a file, in a format or that of the file's ending."""

    def report_lost(self, item: Record, problem: str) -> JsonObject:
        """Return the line of a record that crashes every process."""
        problem = f'could not be done: {problem}'
        error = RecordError(item.source, item.line, problem)
        return error_line(item.fields, item.line, error, self.kind)


class FileRun:
    """
    One file of a run.

    :param signature: the signature of lines; a run resumes one with the same.
    :param format: the input's format; None to take it from the file's ending.
    :param size: the maximum number of records in one call of the engine.
    :ivar resumed: the number of records that an earlier run has done.
    :ivar resumed_end: the bytes of the file that these took.
    :ivar chunks: the chunks of the others.
    :raises InputError: if the output cannot be written (see
        :class:`~parlai_q2.io.write.ResumableWriter`).
    """

    def __init__(
        self,
        files: FilePair,
        job: FileJob,
        signature: str,
        format: str | None = None,
        size: int = CHUNK_RECORDS,
    ):
        self.files, self.job = files, job
        self.state = read_state(files.infile)
        self.identity = identify(files.infile, signature, format, job.names)
        self.writer: ResumableWriter | StdoutWriter = StdoutWriter()
        if files.outfile is not None:
            self.writer = ResumableWriter(files.outfile, self.identity)
        self.tally = job.tally()
        self.resumed_end = 0
        try:
            records = job.read(files.infile, format)
            self.chunks = self._skip_written(cut_chunks(records, size))
        except BaseException:
            if self.writer.done:
                self.writer.close()
            else:
                self.writer.abandon()
            raise
        self.resumed = self.tally.records

    def _skip_written(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """
        Count the chunks that an earlier run has written whole; return the others, so
        that a scorer gets the same records together as in a run that was never stopped.
        """
        written = self.writer.raw_lines()
        size = 0
        for chunk in chunks:
            raw = list(islice(written, len(chunk)))
            if not self._count_written(raw, chunk):
                chunks = chain([chunk], chunks)
                break
            size += sum(map(len, raw))
            self.resumed_end = chunk[-1].read
        self.writer.keep(size)
        return chunks

    def _count_written(self, raw: Sequence[bytes], chunk: Chunk) -> bool:
        """Count the lines of a chunk; False if they are incomplete."""
        if len(raw) < len(chunk):
            return False
        try:
            lines = [json.loads(line) for line in raw]
            # A line may be damaged, so nothing is counted before all can be.
            self.job.tally().add(lines, chunk)
        except (ValueError, TypeError, KeyError):
            # After a power cut, a file can have a hole.
            return False
        self.tally.add(lines, chunk)
        return True

    def write(self, chunk: Chunk, lines: list[Line]) -> None:
        if self.job.signature_field and not self.tally.good:
            good = (line for line in lines if 'error' not in line)
            for line in islice(good, 1):
                line[self.job.signature_field] = self.identity['signature']
        self.writer.write_lines(b''.join(map(encode_line, lines)))
        self.tally.add(lines, chunk)

    def finish(self, may_be_empty: bool) -> JsonObject:
        """
        Give the output its name, and write the summary beside it, if the input has not
        changed; return the summary.
        """
        check_unchanged(self.files.infile, self.state)
        if not self.tally.records and not may_be_empty:
            self.writer.abandon()
            raise InputError(f'{self.files.infile} has no records.')
        summary = {**self.identity, **self.tally.summary()}
        convert = None
        if self.files.outfile is not None and is_parquet(self.files.outfile):
            convert = partial(write_parquet, columns=self.job.columns)
        self.writer.finish(summary, convert)
        return summary


def check_unchanged(infile: Location, state: JsonMapping) -> None:
    """Check that a file has not changed: otherwise the output may mix two versions."""
    try:
        now = read_state(infile)
    except OSError:
        now = {}
    if now != state:
        raise InputError(
            f'{infile} changed while it was being read. Run the same command again '
            'once nothing writes to it any more; it will start over.'
        )
