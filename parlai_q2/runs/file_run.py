"""
The way of a file through a command: read a chunk, process it, append the lines, and in
the end give the output its name. A run that was stopped resumes after the last chunk
that was written whole.
"""

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import ClassVar, Protocol

from parlai_q2.errors import InputError
from parlai_q2.io.files import Location, read_state
from parlai_q2.io.parquet import Column, is_parquet, write_parquet
from parlai_q2.io.read import FileRecord
from parlai_q2.io.write import ResumableWriter, StdoutWriter, encode_line
from parlai_q2.json_values import JsonMapping, JsonObject
from parlai_q2.runs.job import CHUNK_RECORDS, Chunk, Job, cut_chunks
from parlai_q2.runs.outputs import FilePair, identify

Line = JsonObject


class Tally(Protocol):
    """Counts what became of records, by their lines, in the order of the file."""

    records: int

    @property
    def good(self) -> int:
        """How many records have no error."""

    def add(self, lines: Iterable[Line], nulled: Iterable[str] = ()) -> None:
        """Add the lines of records, and the fields of theirs that had NaN."""

    def summary(self) -> JsonObject:
        """The counts by name."""

    def describe(self) -> str:
        """The counts as text for people."""


class FileJob(Job):
    """
    A job over the records of files.

    :cvar unit: what messages call records: ``records`` or the like.
    :cvar participle: what becomes of them: ``scored`` or the like.
    :cvar signature_field: the field of the first good line that has the signature, if
        not every line has it.
    :cvar columns: those of each Parquet file, with their kinds.
    :ivar names: the names that fields have in the file, by those they are read by.
    """

    unit: ClassVar[str]
    participle: ClassVar[str]
    signature_field: ClassVar[str | None] = None
    columns: ClassVar[Mapping[str, Column]] = {}
    names: Mapping[str, str]

    @abstractmethod
    def read(self, path: Location, format: str | None) -> Iterator[FileRecord]:
        """The records of a file."""

    @abstractmethod
    def make_tally(self) -> Tally:
        """Make what counts the lines."""


class FileRun:
    """
    One file of a run.

    :param signature: how lines are made; a run resumes one with the same.
    :param format: of the input; None to take it from the file's ending.
    :param size: the most records in one call of the engine.
    :ivar resumed: how many records an earlier run has done.
    :ivar resumed_end: how many bytes of the file these took.
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
            self.writer = ResumableWriter(files.outfile, self.identity, *files.inputs)
        self.tally = job.make_tally()
        self.summary: JsonObject = {}
        self.resumed_end = 0
        # Chunks that were read, but not written yet.
        self.pending = 0
        self.read_all = False
        try:
            records = job.read(files.infile, format)
            self._chunks = self._skip_written(cut_chunks(records, size))
        except BaseException:
            if self.writer.done:
                self.writer.close()
            else:
                self.writer.abandon()
            raise
        self.resumed = self.tally.records

    def _skip_written(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        """
        Count the chunks that an earlier run has written; return the others. If some
        lines of a chunk are missing, the whole chunk is processed again, so that a
        scorer sees the same records together as in a run that was never stopped.
        """
        written = self.writer.raw_lines()
        size = 0
        for chunk in chunks:
            raw = list(islice(written, len(chunk.items)))
            if not self._count_written(raw, chunk):
                chunks = chain([chunk], chunks)
                break
            size += sum(map(len, raw))
            self.resumed_end = chunk.end
        self.writer.keep(size)
        return chunks

    def _count_written(self, raw: Sequence[bytes], chunk: Chunk) -> bool:
        """Count the lines of a chunk; False if they are not whole."""
        if len(raw) < len(chunk.items):
            return False
        try:
            lines = [json.loads(line) for line in raw]
            self.tally.add(lines, chunk.nulled)
        except (ValueError, TypeError, KeyError):
            # After a power cut, a file can have a hole.
            return False
        return True

    def chunks(self) -> Iterator[Chunk]:
        """The chunks that are still to be processed."""
        for chunk in self._chunks:
            self.pending += 1
            yield chunk
        self.read_all = True

    def write(self, chunk: Chunk, lines: list[Line]) -> None:
        """Append the lines of the next chunk."""
        if self.job.signature_field and not self.tally.good:
            good = (line for line in lines if 'error' not in line)
            for line in islice(good, 1):
                line[self.job.signature_field] = self.identity['signature']
        self.writer.write_lines(b''.join(map(encode_line, lines)))
        self.tally.add(lines, chunk.nulled)
        self.pending -= 1

    @property
    def is_complete(self) -> bool:
        """Whether the whole file was read, and all of it written."""
        return self.read_all and not self.pending

    def finish(self, may_be_empty: bool) -> None:
        """
        Give the output its name, and write the summary beside it.

        :raises InputError: if the input has changed meanwhile, or has no records and
            may not be empty.
        """
        check_unchanged(self.files.infile, self.state)
        if not self.tally.records and not may_be_empty:
            self.writer.abandon()
            raise InputError(f'{self.files.infile} has no records.')
        self.summary = {**self.identity, **self.tally.summary()}
        convert = None
        if self.files.outfile is not None and is_parquet(self.files.outfile):
            convert = partial(write_parquet, columns=self.job.columns)
        self.writer.finish(self.summary, convert)


def check_unchanged(infile: Location, state: JsonMapping) -> None:
    """Check that a file is as it was: else the output may mix two versions of it."""
    try:
        now = read_state(infile)
    except OSError:
        now = {}
    if now != state:
        raise InputError(
            f'{infile} changed while it was being read. Run the same command again '
            'once nothing writes to it any more; it will start over.'
        )
