"""
Splits a file's records into chunks: what is scored in one call, and the most work that
a killed process loses.

Chunk boundaries depend on the file alone. So the scorer always sees the same records
together, wherever a chunk is scored and however often the run was stopped.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional, Protocol

from parlai_q2.errors import Flaw, RecordError

# Records per chunk: enough to fill a model's batches of one length, few enough that Q2
# on two cores scores them within a minute.
CHUNK_RECORDS = 256
# A chunk is closed once it spans this many bytes of the file, so that a file with long
# passages takes no more memory than one with short ones.
CHUNK_BYTES = 4 * 1024 * 1024


class Readable(Protocol):
    """
    A record of a file of any kind; see :class:`~parlai_q2.io.read.Record`.
    """

    @property
    def line(self) -> int: ...

    @property
    def fields(self) -> dict[str, Any]: ...

    @property
    def error(self) -> Optional[RecordError]: ...

    @property
    def read(self) -> int: ...

    @property
    def nulled(self) -> tuple[str, ...]: ...


class Chunk(NamedTuple):
    """
    Consecutive records of a file.

    :param number: the index of the chunk in the file, from 0.
    :param items: its records, of whichever kind.
    :param end: how many bytes of the file had been read by the end of the chunk.
    """

    number: int
    items: Sequence[Readable]
    end: int

    @property
    def cut_short(self) -> bool:
        """Whether the last record says that the rest of the file was not read."""
        error = self.items[-1].error
        return error is not None and error.flaw is Flaw.ENDS_FILE

    @property
    def nulled(self) -> list[str]:
        """The fields of each record that had NaN or Infinity, one after the other."""
        return [name for record in self.items for name in record.nulled]


def cut_chunks(
    records: Iterator[Readable],
    size: int = CHUNK_RECORDS,
    size_bytes: int = CHUNK_BYTES,
) -> Iterator[Chunk]:
    """
    Split records into chunks, reading them only as needed.

    :param size: the maximum number of records in a chunk, at least 1.
    :param size_bytes: close a chunk once it spans this many bytes, at least 1.
    """
    held: list[Readable] = []
    number = start = 0
    for record in records:
        held.append(record)
        if len(held) >= size or record.read - start >= size_bytes:
            yield Chunk(number, held, record.read)
            number, start, held = number + 1, record.read, []
    if held:
        yield Chunk(number, held, held[-1].read)
