"""
Reports the progress of a reply to a listener, such as a page that shows it. Without a
listener, nothing happens.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from parlai_q2.options import Word


class Step(Word):
    """The steps of a reply, in their order."""

    FINDING = 'finding'
    JUDGING = 'judging'
    CHOOSING = 'choosing'


Listener = Callable[[Step, int], None]
_listener: ContextVar[Listener | None] = ContextVar('listener', default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """
    Within this block, pass each step of this thread to a listener, with the number of
    candidates, 0 if not known yet.
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def report_step(step: Step, candidates: int = 0) -> None:
    listener = _listener.get()
    if listener is not None:
        listener(step, candidates)
