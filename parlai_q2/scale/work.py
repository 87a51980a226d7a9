"""The work of a run: which chunks to score, and what has been done."""

import json
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Iterable, Iterator, Mapping, NamedTuple, Optional

from parlai_q2.claims import Label
from parlai_q2.errors import RecordError
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.io.read import Record, read_records
from parlai_q2.io.write import ResumableWriter
from parlai_q2.scorers.shell import LANGUAGE

# The label and score of a record, and whether it is in another language than the
# model's; or None for a bad record.
Outcome = Optional[tuple[str, float, bool]]
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


def chunks_of(
    path: Path,
    format: Optional[str] = None,
    size: int = CHUNK_RECORDS,
    names: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Chunk]:
    """
    All chunks of a file, in order, read as needed.

    :param format: as for :func:`~parlai_q2.io.read.read_records`; so are ``names``.
    :param size: the maximum number of records in a chunk.
    """
    return cut_chunks(_shallow(path, format, names), size)


def _shallow(
    path: Path, format: Optional[str], names: Mapping[str, str]
) -> Iterator[Record]:
    for record in read_records(path, format, names):
        if _too_deep(record):
            error = RecordError(path.name, record.line, TOO_DEEP)
            record = Record(record.line, {}, None, error, record.read)
        yield record


class Work(NamedTuple):
    """
    The chunks that a run has to score; and of an earlier run, how many records it has
    scored, how many bytes of the file these took, and whether the last of them says
    that the rest of the file was not read.
    """

    chunks: Iterator[Chunk]
    records: int = 0
    read: int = 0
    cut_short: bool = False


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
        # Of those that are not verifiable, how many for their language.
        self.foreign = 0

    def add(self, outcomes: Iterable[Outcome], nulled: Iterable[str] = ()) -> None:
        """Add the outcomes of records, and the fields of theirs with NaN."""
        for name in nulled:
            self.nulled[name] = self.nulled.get(name, 0) + 1
        for outcome in outcomes:
            self.records += 1
            if outcome is None:
                self.bad += 1
                continue
            label, score, foreign = outcome
            self.foreign += foreign
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
        more = {LANGUAGE: self.foreign, 'nulled': self.nulled}
        return {**found, **{name: value for name, value in more.items() if value}}

    def sentence(self) -> str:
        """The counts and the mean score, as text for people."""
        counts = ', '.join(f'{n} {label}' for label, n in self.labels.items())
        mean = f' Mean score {self.total / self.scored:.3f}.' if self.scored else ''
        bad = f' {self.bad} could not be scored; see their "error".' if self.bad else ''
        told = f'{self.records} records: {counts}.{mean}{bad}'
        if self.foreign:
            told += f' {self.foreign} are not in English, which the models read.'
        if self.nulled:
            names = ', '.join(f'{name} ({n})' for name, n in self.nulled.items())
            told += f' Null was written for NaN or Infinity in: {names}.'
        return told


def outcome_of(line: Mapping[str, Any]) -> Outcome:
    """The outcome of a record, from the line that was written for it."""
    if 'label' not in line:
        return None
    return line['label'], line['score'], LANGUAGE in (line.get('parts') or ())


def go_on(chunks: Iterator[Chunk], writer: ResumableWriter, tally: Tally) -> Work:
    """
    Skip the chunks that an earlier run has written, and count their records.

    If some lines of a chunk are missing, the whole chunk is scored again, so that the
    scorer sees the same records together as in a run that was never stopped.

    :param chunks: all chunks of the file.
    :param writer: has the lines of the earlier run. Those from the first chunk that has
        to be scored on are dropped.
    :param tally: the records that are skipped are added to it.
    """
    lines = writer.raw_lines()
    kept = read = 0
    cut_short = False
    for chunk in chunks:
        held = list(islice(lines, len(chunk.records)))
        outcomes = _outcomes(held, len(chunk.records))
        if outcomes is None:
            chunks = chain([chunk], chunks)
            break
        tally.add(outcomes, chunk.nulled)
        kept += sum(map(len, held))
        read, cut_short = chunk.end, chunk.cut_short
    writer.keep(kept)
    return Work(chunks, tally.records, read, cut_short)


def _outcomes(lines: list[bytes], records: int) -> Optional[list[Outcome]]:
    if len(lines) < records:
        return None
    try:
        return [outcome_of(json.loads(line)) for line in lines]
    except (ValueError, TypeError, KeyError):
        # After a power cut, a file can have a hole.
        return None
