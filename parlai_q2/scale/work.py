"""The work of a run: which chunks to score, and what has been done."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple, Optional

from parlai_q2.errors import Flaw, RecordError
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, Readable, cut_chunks
from parlai_q2.io.write import ResumableWriter
from parlai_q2.scale.outcomes import Counts

OutcomeOf = Callable[[Mapping[str, Any]], Any]
# How deep lists and objects may be nested. The limits of Python's pickle and JSON
# depend on what else is on the stack, so a deeper record might be scored by one engine
# and end the run of another.
MOST_LEVELS = 200
TOO_DEEP = (
    f'nests lists or objects more than {MOST_LEVELS} levels deep. Leave such '
    'fields out, or give them as text.'
)


def chunks_of(
    records: Iterator[Readable], name: str, size: int = CHUNK_RECORDS
) -> Iterator[Chunk]:
    """
    All chunks of a file, in order, read as needed.

    :param records: of the file.
    :param name: of the file, for messages.
    :param size: the maximum number of records in a chunk.
    """
    return cut_chunks(_shallow(records, name), size)


def _shallow(records: Iterator[Any], name: str) -> Iterator[Readable]:
    for record in records:
        if _too_deep(record):
            error = RecordError(name, record.line, TOO_DEEP)
            record = record.without(error)
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


def _too_deep(record: Readable) -> bool:
    if record.error is not None and record.error.flaw is Flaw.TOO_DEEP:
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


def go_on(
    chunks: Iterator[Chunk],
    writer: ResumableWriter,
    tally: Counts,
    outcome_of: OutcomeOf,
) -> Work:
    """
    Skip the chunks that an earlier run has written, and count their records.

    If some lines of a chunk are missing, the whole chunk is scored again, so that the
    scorer sees the same records together as in a run that was never stopped.

    :param chunks: all chunks of the file.
    :param writer: has the lines of the earlier run. Those from the first chunk that has
        to be scored on are dropped.
    :param tally: the records that are skipped are added to it.
    :param outcome_of: reads back what was made of a record, from its line.
    """
    lines = writer.raw_lines()
    kept = read = 0
    cut_short = False
    for chunk in chunks:
        held = list(islice(lines, len(chunk.items)))
        outcomes = _outcomes(held, len(chunk.items), outcome_of)
        if outcomes is None:
            chunks = chain([chunk], chunks)
            break
        tally.add(outcomes, chunk.nulled)
        kept += sum(map(len, held))
        read, cut_short = chunk.end, chunk.cut_short
    writer.keep(kept)
    return Work(chunks, tally.records, read, cut_short)


def _outcomes(
    lines: list[bytes], records: int, outcome_of: OutcomeOf
) -> Optional[list[Any]]:
    if len(lines) < records:
        return None
    try:
        return [outcome_of(json.loads(line)) for line in lines]
    except (ValueError, TypeError, KeyError):
        # After a power cut, a file can have a hole.
        return None
