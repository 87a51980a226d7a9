"""
The work of a run: which file to score, from which chunk on, and what has been done.
"""

import json
from itertools import chain, islice
from pathlib import Path
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional

from parlai_q2.errors import RecordError
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.io.read import NOT_READ, Record, read_records
from parlai_q2.io.write import ResumableWriter
from parlai_q2.records import Label

# The label and score of a record, or None for a bad record.
Outcome = Optional[tuple[str, float]]
# How deep lists and objects may be nested. The limits of Python's pickle and JSON
# depend on what else is on the stack, so a deeper record might be scored by one engine
# and end the run of another.
MOST_LEVELS = 200
TOO_DEEP = (
    f'nests lists or objects more than {MOST_LEVELS} levels deep. Leave such '
    'fields out, or give them as text.'
)
# The start of the error from read_records if a line is too deep for Python's JSON.
TOO_DEEP_TO_READ = 'is not JSON (maximum recursion depth'


class Source(NamedTuple):
    """
    A file, and how it is split into chunks.

    :param path: the file.
    :param format: its format, or None to take it from the file's extension.
    :param chunk_size: the maximum number of records in a chunk.
    """

    path: Path
    format: Optional[str] = None
    chunk_size: int = CHUNK_RECORDS

    def chunks(self) -> Iterator[Chunk]:
        """All chunks of the file, in order, read as needed."""
        return cut_chunks(self._records(), self.chunk_size)

    def _records(self) -> Iterator[Record]:
        for record in read_records(self.path, self.format):
            if _too_deep(record):
                error = RecordError(self.path.name, record.line, TOO_DEEP)
                record = Record(record.line, {}, None, error, record.read)
            yield record


class Work(NamedTuple):
    """
    The work that a run has to do.

    :param source: the file, for an engine that reads it elsewhere.
    :param first: the index of the first chunk to score.
    :param chunks: the chunks to score, for an engine that reads them in this process.
    :param records: how many records an earlier run has scored.
    :param read: how many bytes of the file these records took.
    :param cut_short: whether the last of these records says that the rest of the file
        was not read.
    """

    source: Source
    first: int
    chunks: Iterator[Chunk]
    records: int = 0
    read: int = 0
    cut_short: bool = False


def cut_short(chunk: Chunk) -> bool:
    """Whether a chunk's last record says that the rest of the file was not read."""
    error = chunk.records[-1].error
    # Only at the end: the message may contain a field's name, which can be any text.
    return error is not None and error.problem.endswith(NOT_READ)


def nulled_in(chunk: Chunk) -> list[str]:
    """The fields of each record that had NaN or Infinity, one after the other."""
    return [name for record in chunk.records for name in record.nulled]


def _too_deep(record: Record) -> bool:
    if record.error is not None and record.error.problem.startswith(TOO_DEEP_TO_READ):
        return True
    held = _nested(record.fields)
    for _ in range(MOST_LEVELS):
        if not held:
            return False
        held = [inner for value in held for inner in _nested(value)]
    return bool(held)


def _nested(value: Any) -> list[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return [inner for inner in inside if isinstance(inner, (dict, list))]


class Tally:
    """
    Counts records and adds up their scores. Scores are added in the file's order, so
    that the sum is bit for bit the same however the run was interrupted or distributed.
    """

    def __init__(self) -> None:
        self.records = self.bad = 0
        # How many records had NaN or Infinity in a field, where null was written.
        self.nulled: dict[str, int] = {}
        self.labels = {
            Label.CONSISTENT: 0,
            Label.INCONSISTENT: 0,
            Label.NOT_VERIFIABLE: 0,
            Label.GENERIC: 0,
        }
        self.total = 0.0

    def add(self, outcomes: Iterable[Outcome], nulled: Iterable[str] = ()) -> None:
        """Add the outcomes of records, and what :func:`nulled_in` found in them."""
        for name in nulled:
            self.nulled[name] = self.nulled.get(name, 0) + 1
        for outcome in outcomes:
            self.records += 1
            if outcome is None:
                self.bad += 1
                continue
            label, score = outcome
            self.labels[label] = self.labels.get(label, 0) + 1
            self.total += score

    @property
    def scored(self) -> int:
        """The number of records with a score."""
        return self.records - self.bad

    def summary(self) -> dict[str, Any]:
        """The counts and the mean score; the mean is None if nothing was scored."""
        mean = self.total / self.scored if self.scored else None
        found = {'records': self.records, 'bad': self.bad, 'mean': mean, **self.labels}
        return {**found, 'nulled': self.nulled} if self.nulled else found

    def sentence(self) -> str:
        """The counts and the mean score, as text for people."""
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        mean = f' Mean score {self.total / self.scored:.3f}.' if self.scored else ''
        bad = f' {self.bad} could not be scored; see their "error".' if self.bad else ''
        told = f'{self.records} records: {counts}.{mean}{bad}'
        if self.nulled:
            names = ', '.join(f'{name} ({n})' for name, n in self.nulled.items())
            told += f' Null was written for NaN or Infinity in: {names}.'
        return told


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    """The outcome of a record, from the line that was written for it."""
    if 'label' not in line:
        return None
    return line['label'], line['score']


def go_on(source: Source, writer: ResumableWriter, tally: Tally) -> Work:
    """
    Skip the chunks that an earlier run has written, and count their records.

    If some lines of a chunk are missing, the whole chunk is scored again, so that the
    scorer sees the same records together as in a run that was never stopped.

    :param source: the file to score.
    :param writer: has the lines of the earlier run. Those from the first chunk that has
        to be scored on are dropped.
    :param tally: the records that are skipped are added to it.
    :return: the remaining work; the whole file if nothing was written.
    """
    chunks, lines = source.chunks(), writer.raw_lines()
    kept = read = first = 0
    ended = False
    for chunk in chunks:
        held = list(islice(lines, len(chunk.records)))
        outcomes = _outcomes(held, len(chunk.records))
        if outcomes is None:
            chunks = chain([chunk], chunks)
            break
        tally.add(outcomes, nulled_in(chunk))
        kept += sum(map(len, held))
        read, first = chunk.end, chunk.number + 1
        ended = cut_short(chunk)
    writer.keep(kept)
    return Work(source, first, chunks, tally.records, read, ended)


def _outcomes(lines: list[bytes], records: int) -> Optional[list[Outcome]]:
    if len(lines) < records:
        return None
    try:
        return [outcome_of(json.loads(line)) for line in lines]
    except (ValueError, TypeError, KeyError):
        # After a power cut, a file can have a hole.
        return None
