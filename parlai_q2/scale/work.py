"""
Describes the work of a run: which file to score, and from which chunk on.
"""

from pathlib import Path
from typing import Any, Iterator, NamedTuple, Optional

from parlai_q2.errors import RecordError
from parlai_q2.io.chunks import CHUNK_RECORDS, Chunk, cut_chunks
from parlai_q2.io.read import NOT_READ, Record, read_records

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
        """
        All chunks of the file, in order, read as needed.
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
    """
    Whether a chunk's last record says that the rest of the file was not read.
    """
    error = chunk.records[-1].error
    # Only at the end: the message may contain a field's name, which can be any text.
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
