"""
What an engine runs: a job, which is sent to where the work is done, loads a model there
once, and then makes one result of each item. Engines know nothing of records or files.
"""

from collections.abc import Generator, Iterator, Sequence
from typing import Any, Protocol


class Work(Protocol):
    """A loaded job."""

    @property
    def signature(self) -> str:
        """How its results are made; equal wherever the job is loaded."""

    def __call__(self, items: Sequence[Any]) -> list[Any]:
        """
        The result of each item, in order. One call with many items gives the results
        that many calls with one would.
        """


class Job(Protocol):
    """What can be sent to another process (by pickle) and loaded there."""

    def load(self, device: str | None = None) -> Work:
        """
        Load what the work needs.

        :param device: a torch device's name; None for the job's own.
        """

    def lost(self, item: Any, problem: str) -> Any:
        """The result of an item that no process survives."""


class Chunk(Protocol):
    """Consecutive items; the work of one call."""

    @property
    def items(self) -> Sequence[Any]:
        """
        What there is to do; the last chunk may have nothing. Each item says its
        ``place``, for messages: ``pairs.jsonl, line 3``.
        """


class Engine(Protocol):
    """
    Runs a job over chunks. A context manager, which stops all that it started.

    :param signature: of the loaded job.
    """

    signature: str

    def run(
        self, chunks: Iterator[Any]
    ) -> Generator[tuple[Any, list[Any]], None, None]:
        """
        Each chunk and its results, in the order of the chunks, which are read only as
        they are needed. Closing the generator stops the work.
        """

    def __enter__(self) -> 'Engine': ...

    def __exit__(self, *error: Any) -> None: ...
