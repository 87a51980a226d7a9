"""
What runs in a process of Ray: it holds one loaded job and processes the items that it
is sent. It keeps nothing else, so it can be killed at any time.
"""

import errno
import os
import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from parlai_q2.errors import is_out_of_memory

# torch's libraries and the tokenizers read their number of threads from these.
THREAD_VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS')


class Actor:
    """
    One loaded job.

    :param job: pickled, so that the number of threads is set before torch is imported.
    :param device: a torch device's name, or None for the job's own.
    :param threads: of the process, whatever the variables are on its node.
    """

    def __init__(self, job: bytes, device: str | None, threads: int):
        for name in THREAD_VARIABLES:
            os.environ[name] = str(threads)
        self._job, self._device = job, device

    def load(self) -> str:
        """Load the job; return its signature. This comes first."""
        with ending_out_of_memory():
            self._loaded = pickle.loads(self._job).load(self._device)
        return str(self._loaded.signature)

    def work(self, items: Sequence[object]) -> list[Any]:
        """The results of some items, in order."""
        with ending_out_of_memory():
            results: list[Any] = self._loaded.process(items)
        return results


@contextmanager
def ending_out_of_memory() -> Iterator[None]:
    """Without memory, end as if killed: another process may have enough."""
    try:
        yield
    except Exception as e:
        if is_out_of_memory(e):
            os._exit(errno.ENOMEM)
        raise
