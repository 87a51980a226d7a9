"""
A model that is loaded when it is first needed, once, whichever thread comes first.
"""

import threading
from typing import Any, Callable, Generic, Optional, TypeVar

Loaded = TypeVar('Loaded')


class Lazy(Generic[Loaded]):
    """
    Calls a loader on first use and keeps what it gave.

    :param loader: takes nothing, returns the model.
    """

    def __init__(self, loader: Callable[[], Loaded]):
        self._loader = loader
        self._lock = threading.Lock()
        self._value: Optional[Loaded] = None

    def __call__(self) -> Loaded:
        if self._value is None:
            with self._lock:
                if self._value is None:
                    self._value = self._loader()
        return self._value

    def __getstate__(self) -> Any:
        # Locks cannot be pickled; another process loads its own copy.
        return {'_loader': self._loader}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state['_loader'])  # type: ignore[misc]
