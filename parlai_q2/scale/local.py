"""The engine that works in this process, one chunk after the other."""

from collections.abc import Generator, Iterator
from typing import Any

from parlai_q2.scale.job import Job, Work


class LocalEngine:
    """
    Runs a job in this process; see :class:`~parlai_q2.scale.job.Engine`.

    :param job: loaded at once.
    """

    def __init__(self, job: Job):
        self._work: Work = job.load()
        self.signature = self._work.signature

    def run(
        self, chunks: Iterator[Any]
    ) -> Generator[tuple[Any, list[Any]], None, None]:
        """Each chunk and its results."""
        for chunk in chunks:
            yield chunk, self._work(chunk.items)

    def __enter__(self) -> 'LocalEngine':
        return self

    def __exit__(self, *error: Any) -> None:
        """Nothing was started."""
