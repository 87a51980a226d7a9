"""
Loads a model on first use, once, even if several threads need it at once; and again in
a forked process, where the threads that ran the model are gone.
"""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Loaded = TypeVar('Loaded')

# Models that a parent process loaded: deleting them would wait for its threads.
_of_parents: list[object] = []


class Lazy(Generic[Loaded]):
    """Calls a loader on first use and keeps the result."""

    def __init__(self, loader: Callable[[], Loaded]):
        self._loader = loader
        self._lock, self._process = threading.Lock(), os.getpid()
        # Holds the result, which may be None, once it is loaded.
        self._given: list[Loaded] = []

    def __call__(self) -> Loaded:
        if self._process != os.getpid():
            self._forget_parent()
        if not self._given:
            with self._lock:
                if not self._given:
                    self._given.append(self._loader())
        return self._given[0]

    def _forget_parent(self) -> None:
        _of_parents.extend(self._given)
        self._lock, self._process = threading.Lock(), os.getpid()
        self._given = []

    def __reduce__(self) -> tuple[object, ...]:
        # Locks cannot be pickled; another process loads its own copy.
        return Lazy, (self._loader,)
