"""
What is to be scored: a file, and from which chunk on.
"""

from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

from parlai_q2.errors import RecordError
from parlai_q2.files.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.files.read import NOT_READ, Record, read_records

# Levels of lists and objects that a field may have. Python's pickle and JSON take more
# or less than this with what else is on the stack, so that a deeper record would be
# scored by one engine and end the run of another.
MOST_LEVELS = 200
TOO_DEEP = (
    f'nests lists or objects more than {MOST_LEVELS} levels deep. Leave such '
    'fields out, or give them as text.'
)
# How read_records says that a line has even more levels than Python's JSON reads.
TOO_DEEP_TO_READ = 'is not JSON (maximum recursion depth'


class Source(NamedTuple):
    """
    A file and how it is cut.

    :param path: the file.
    :param format: its format, or None to go by its ending.
    :param chunk_size: records in a chunk, at most.
    """

    path: Path
    format: Optional[str] = None
    chunk_size: int = CHUNK_RECORDS

    def chunks(self) -> Iterator[Chunk]:
        """
        Its chunks, from the first, read as they are asked for.
        """
        return cut_chunks(self._records(), self.chunk_size)

    def _records(self) -> Iterator[Record]:
        for record in read_records(self.path, self.format):
            if _too_deep(record):
                error = RecordError(self.path.name, record.line, TOO_DEEP)
                record = Record(record.line, {}, None, error, record.read)
            yield record


class Work(NamedTuple):
    """
    What a run has to do.

    :param source: the file, for an engine that reads it elsewhere.
    :param first: the index of the first chunk to be scored.
    :param chunks: the chunks to be scored, for one that takes them from here.
    :param records: records that an earlier run has scored.
    :param read: bytes of the file that they took.
    :param cut_short: whether the last of them says that the rest cannot be read.
    """

    source: Source
    first: int
    chunks: Iterator[Chunk]
    records: int = 0
    read: int = 0
    cut_short: bool = False


def cut_short(chunk: Chunk) -> bool:
    """
    Whether a chunk's last record says that the rest of the file was not read.
    """
    error = chunk.records[-1].error
    # At its end: a field's name, which a message may hold, can be any text.
    return error is not None and error.problem.endswith(NOT_READ)


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
