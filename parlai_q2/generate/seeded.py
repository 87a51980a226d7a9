"""
Samples from CTranslate2 that depend on a seed alone.

The library gives each of its threads random numbers of its own, and reads the seed only
when a thread draws its first one (``set_random_seed`` after that changes nothing for
it). So a model is opened with many threads, which share its weights, and each draws for
one search only. Which thread takes a search cannot be asked for, but a function that is
called at each step runs in that thread: if the thread has drawn before, the search ends
at its first token and is asked for again. When most threads have drawn, the model is
opened anew.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any, Optional

# Threads of a model, and how many of them draw before it is opened anew. A thread costs
# some 2 ms and little memory; a search in one that has drawn costs its first token.
THREADS, MOST_DRAWN = 48, 32
# The seed is the library's, so one for the process.
_SEEDING = threading.Lock()

# Starts a search: the model, and the function to call at each step -> its future.
Start = Callable[[Any, Callable[[Any], bool]], Any]


class SeededModel:
    """
    A model whose samples depend on a seed alone.

    :param open_with: opens the model with a number of threads.
    """

    def __init__(self, open_with: Callable[[int], Any]):
        self._open, self._lock = open_with, threading.Lock()
        self._kept: list[Any] = []
        self._drawn: set[int] = set()
        # A thread of the library that lets go of a function of Python's while Python
        # ends aborts the process. So the model goes before that.
        weakref.finalize(self, self._kept.clear)

    @property
    def model(self) -> Any:
        """The model, for searches that draw nothing."""
        with self._lock:
            return self._opened()

    def load(self) -> None:
        """Load the model now."""
        with self._lock:
            self._opened()

    def sample(self, seed: int, start: Start) -> Any:
        """
        Run a search that draws.

        :param seed: in [0, 2**32).
        :param start: starts it, asynchronously.
        :return: what its future gives.
        """
        while True:
            model, first = self._with_fresh_threads()
            with _SEEDING:
                _set_seed(seed)
                future = start(model, first)
                # From here on another search may set another seed.
                first.wait_for(future)
            found = future.result()
            if first.fresh:
                return found

    def _with_fresh_threads(self) -> tuple[Any, '_FirstStep']:
        with self._lock:
            if len(self._drawn) >= MOST_DRAWN:
                # Searches under way keep theirs until they end.
                self._kept.clear()
            return self._opened(), _FirstStep(self._drawn)

    def _opened(self) -> Any:
        if not self._kept:
            self._kept.append(self._open(THREADS))
            self._drawn = set()
        return self._kept[0]


class _FirstStep:
    """Called at each step of a search; learns at the first whether its thread drew."""

    def __init__(self, drawn: set[int]):
        self._drawn, self._seen = drawn, threading.Event()
        self.fresh: Optional[bool] = None

    def __call__(self, step: Any) -> bool:
        if self.fresh is None:
            thread = threading.get_ident()
            self.fresh = thread not in self._drawn
            self._drawn.add(thread)
            self._seen.set()
        return not self.fresh

    def wait_for(self, future: Any) -> None:
        """Until the first step, or the end of a search that took none."""
        while not self._seen.wait(0.01):
            if future.done():
                if self.fresh is None:
                    self.fresh = True
                return


def _set_seed(seed: int) -> None:
    import ctranslate2

    ctranslate2.set_random_seed(seed)
