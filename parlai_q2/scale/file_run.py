"""
Works off files: reads their records in chunks, has an engine make a line of each, and
writes the lines in order. A run that was stopped goes on where it ended.

Several files (shards) are one stream to the engine, which does not run dry between two
of them; each has its own output, with its own summary.
"""

import json
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Optional

from parlai_q2.errors import InputError
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, Readable
from parlai_q2.io.locations import Location, state_of
from parlai_q2.io.parquet import Column, is_parquet, write_parquet
from parlai_q2.io.write import ResumableWriter, encode_line
from parlai_q2.scale.job import Engine
from parlai_q2.scale.outcomes import Counts, Made
from parlai_q2.scale.work import Work, chunks_of, go_on


@dataclass(frozen=True)
class Kind:
    """
    What a command reads and writes.

    :param read: gives the records of a file, by its place and its format.
    :param outcome_of: reads back what was made of a record, from its line.
    :param counts: makes what counts outcomes.
    :param signature_field: the field of the first good line that has the signature, if
        not every line has it.
    :param identity: what else a run must have in common with one that it resumes.
    :param bad_is_error: whether the command fails if one record is bad.
    :param columns: those of each Parquet file, with their kinds.
    """

    read: Callable[[Location, Optional[str]], Iterator[Readable]]
    outcome_of: Callable[[Mapping[str, Any]], Any]
    counts: Callable[[], Counts]
    signature_field: Optional[str] = None
    identity: Mapping[str, Any] = field(default_factory=dict)
    bad_is_error: bool = False
    columns: Mapping[str, Column] = field(default_factory=dict)


@dataclass(frozen=True)
class Shard:
    """A file to read, and the one to write: JSON lines, or by its name Parquet."""

    infile: Location
    outfile: Path


@dataclass(frozen=True)
class Watch:
    """What is told of a run: functions that do nothing, unless others are given."""

    begun: Callable[['FileRun'], None] = lambda run: None
    problem: Callable[[str], None] = lambda problem: None
    lines: Callable[[bytes], None] = lambda lines: None
    progress: Callable[[int, int], None] = lambda records, read: None
    done: Callable[['FileRun'], None] = lambda run: None


class FileRun:
    """
    One file of a run.

    :param signature: how lines are made; a run resumes one with the same.
    :param format: of the input; None to take it from the file's ending.
    :param size: records in one call of the engine.
    :param may_be_empty: whether an input may have no records, as one of many files.
    :raises InputError: if the output cannot be written (see
        :class:`~parlai_q2.io.write.ResumableWriter`).
    """

    def __init__(
        self,
        shard: Shard,
        kind: Kind,
        signature: str,
        format: Optional[str] = None,
        size: int = CHUNK_RECORDS,
        may_be_empty: bool = False,
    ):
        self.shard, self._kind, self._may_be_empty = shard, kind, may_be_empty
        self.state = state_of(shard.infile)
        place = shard.infile.resolve()
        self.identity = {
            'signature': signature,
            'infile': str(place),
            'format': format,
            **self.state,
            **kind.identity,
        }
        inputs = [shard.infile] if isinstance(shard.infile, Path) else []
        self.writer = ResumableWriter(shard.outfile, self.identity, *inputs)
        self.counts = kind.counts()
        # Chunks that were read, and that were written, by this run.
        self.given = self.written = 0
        self.read_all = False
        self.summary: dict[str, Any] = {}
        try:
            records = kind.read(place, format)
            chunks = chunks_of(records, shard.infile.name, size)
            self.work: Work = go_on(chunks, self.writer, self.counts, kind.outcome_of)
        except BaseException:
            if self.writer.done:
                self.writer.close()
            else:
                self.writer.abandon()
            raise
        self.cut_short = self.work.cut_short

    def chunks(self) -> Iterator['Given']:
        """The chunks that are still to be done."""
        for chunk in self.work.chunks:
            self.given += 1
            yield Given(self, chunk)
        self.read_all = True

    def write(self, chunk: Chunk, made: Sequence[Made]) -> bytes:
        """Write the lines of the next chunk; return them."""
        lines = [one.line for one in made]
        if self._kind.signature_field and not self.counts.good:
            _sign(lines, made, self._kind.signature_field, self.identity['signature'])
        whole = b''.join(lines)
        self.writer.write_lines(whole)
        self.counts.add([one.outcome for one in made], chunk.nulled)
        self.cut_short |= chunk.cut_short
        self.written += 1
        return whole

    @property
    def done(self) -> bool:
        """Whether the whole file was read, and all of it written."""
        return self.read_all and self.given == self.written

    def finish(self) -> None:
        """
        Give the output its name, and write the summary beside it.

        :raises InputError: if the input has changed meanwhile, or has no records and
            may not be empty.
        """
        check_unchanged(self.shard.infile, self.state)
        if not self.counts.records and not self._may_be_empty:
            self.writer.abandon()
            raise InputError(f'{self.shard.infile} has no records.')
        self.summary = {**self.identity, **self.counts.summary()}
        make = None
        if is_parquet(self.shard.outfile):
            make = partial(write_parquet, columns=self._kind.columns)
        self.writer.finish(self.summary, make)


@dataclass(frozen=True)
class Given:
    """A chunk that an engine has, and the file that it is of."""

    run: FileRun
    chunk: Chunk

    @property
    def items(self) -> Sequence[Readable]:
        """The records."""
        return self.chunk.items


@dataclass
class Files:
    """
    The files of a run, opened one after the other as the engine asks for chunks.

    :param runs: those that are open, oldest first.
    """

    shards: Sequence[Shard]
    begin: Callable[[Shard], FileRun]
    watch: Watch
    runs: deque[FileRun] = field(default_factory=deque)

    def chunks(self) -> Iterator[Given]:
        """The chunks of all files."""
        for shard in self.shards:
            run = self.begin(shard)
            self.runs.append(run)
            self.watch.begun(run)
            yield from run.chunks()

    def finish_done(self) -> None:
        """Finish the files that are complete."""
        while self.runs and self.runs[0].done:
            self.runs[0].finish()
            self.watch.done(self.runs.popleft())

    def close(self) -> None:
        """Leave what is open so that a later run can go on."""
        for run in self.runs:
            run.writer.close()


def run_files(
    shards: Sequence[Shard],
    engine: Engine,
    kind: Kind,
    format: Optional[str] = None,
    size: int = CHUNK_RECORDS,
    watch: Watch = Watch(),
    may_be_empty: bool = False,
) -> None:
    """
    Work off files, resuming those that a stopped run began.

    :param format: of the inputs; None to take it from each file's ending.
    :param size: records in one call of the engine, at most.
    :param watch: is told of all that happens.
    :param may_be_empty: whether an input without records gives an empty output; else
        it is an error.
    :raises InputError: when an input cannot be read, has no record or changes during
        the run, or another run is writing an output.
    """

    def begin(shard: Shard) -> FileRun:
        return FileRun(shard, kind, engine.signature, format, size, may_be_empty)

    files = Files(shards, begin, watch)
    try:
        with closing(engine.run(files.chunks())) as results:
            for given, made in results:
                run, chunk = given.run, given.chunk
                lines = run.write(chunk, made)
                for one in made:
                    if one.problem is not None:
                        watch.problem(one.problem)
                watch.lines(lines)
                watch.progress(len(made), chunk.end)
                files.finish_done()
        files.finish_done()
    except BaseException:
        files.close()
        raise


def check_unchanged(infile: Location, state: Mapping[str, Any]) -> None:
    """Check that a file is as it was: else the output may mix two versions of it."""
    try:
        now = state_of(infile)
    except OSError:
        now = {}
    if now != state:
        raise InputError(
            f'{infile} changed while it was being read. Run the same command '
            'again once nothing writes to it any more; it will start over.'
        )


def _sign(lines: list[bytes], made: Sequence[Made], name: str, signature: str) -> None:
    """Put the signature into the first line without an error."""
    for place, one in enumerate(made):
        if one.outcome is not None:
            lines[place] = encode_line({**json.loads(one.line), name: signature})
            return
