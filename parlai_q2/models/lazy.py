"""
A model that is loaded when it is first needed, once, whichever thread comes first.
"""

import threading
from typing import Any, Callable, Generic, TypeVar

Loaded = TypeVar('Loaded')


class Lazy(Generic[Loaded]):
    """
    Calls a loader on first use and keeps what it gave.

    :param loader: takes nothing, returns the model.
    """

    def __init__(self, loader: Callable[[], Loaded]):
        self._loader = loader
        self._lock = threading.Lock()
        # What it gave, which may be None, once it has.
        self._given: list[Loaded] = []

    def __call__(self) -> Loaded:
        if not self._given:
            with self._lock:
                if not self._given:
                    self._given.append(self._loader())
        return self._given[0]

    def __getstate__(self) -> Any:
        # Locks cannot be pickled; another process loads its own copy.
        return {'_loader': self._loader}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state['_loader'])  # type: ignore[misc]
