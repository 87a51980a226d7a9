"""Loads a model on first use, once, even if several threads need it at once."""

import threading
from typing import Any, Callable, Generic, TypeVar

Loaded = TypeVar('Loaded')


class Lazy(Generic[Loaded]):
    """Calls a loader on first use and keeps the result."""

    def __init__(self, loader: Callable[[], Loaded]):
        self._loader = loader
        self._lock = threading.Lock()
        # Holds the result, which may be None, once there is one.
        self._given: list[Loaded] = []

    def __call__(self) -> Loaded:
        if not self._given:
            with self._lock:
                if not self._given:
                    self._given.append(self._loader())
        return self._given[0]

    def __reduce__(self) -> Any:
        # Locks cannot be pickled; another process loads its own copy.
        return Lazy, (self._loader,)
