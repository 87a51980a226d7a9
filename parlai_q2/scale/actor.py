"""
What runs in a process of Ray: it holds one loaded job and processes the items that it
is sent. It keeps nothing else, so it can be killed at any time.
"""

import errno
import os
import pickle
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from parlai_q2.errors import Q2Error, is_out_of_memory

# torch's libraries and the tokenizers read their number of threads from these.
THREAD_VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS')


class CallOutcome(NamedTuple):
    """
    The value of a call, or what went wrong: a message; the traceback, unless the
    message says everything; and the name of a module that was not there.
    """

    value: Any
    problem: str = ''
    trace: str = ''
    module: str = ''


class Actor:
    """
    One loaded job.

    :param job: pickled, so that the number of threads is set before torch is imported.
    :param device: a torch device's name, or None for the job's own.
    :param threads: of the process, unless the user set one of the variables.
    """

    def __init__(self, job: bytes, device: str | None, threads: int):
        for name in THREAD_VARIABLES:
            os.environ[name] = str(threads)
        self._job, self._device = job, device
        self._process: Callable[[Sequence[Any]], list[Any]] | None = None

    def load(self) -> CallOutcome:
        return self._answer(self._load)

    def work(self, items: Sequence[object]) -> CallOutcome:
        assert self._process is not None, 'load() comes first'
        return self._answer(self._process, items)

    def _load(self) -> str:
        loaded = pickle.loads(self._job).load(self._device)
        self._process = loaded.process
        return str(loaded.signature)

    def _answer(self, function: Any, *arguments: Any) -> CallOutcome:
        try:
            return CallOutcome(function(*arguments))
        except Q2Error as e:
            return CallOutcome(None, str(e), module=_find_missing_module(e.__cause__))
        except Exception as e:
            if is_out_of_memory(e):
                # End as if killed by the system; another process may have enough.
                os._exit(errno.ENOMEM)
            problem = f'{type(e).__name__}: {e}'
            return CallOutcome(
                None, problem, traceback.format_exc(), _find_missing_module(e)
            )


def _find_missing_module(error: BaseException | None) -> str:
    """The module that an import did not find; empty if that is not what happened."""
    return error.name or '' if isinstance(error, ModuleNotFoundError) else ''
