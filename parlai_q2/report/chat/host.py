"""
Has one thread carry out whatever browsers ask of a conversation, in the order of their
asking. So requests never interleave, and Ctrl-C in that thread ends a reply under way.
"""

from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from http import HTTPStatus
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from parlai_q2.report.chat.messages import RequestError
from parlai_q2.steps import Listener, listening

# How often the waiting thread looks whether it was interrupted.
_LOOK_SECONDS = 0.2
# The most messages that wait for their replies.
MAX_WAITING = 8
# What is to be done, and the future of its result.
Task = tuple[Future[Any], Callable[[], Any]]


class ServedConversation(Protocol):
    """The conversation that is served. Its methods take and return JSON-safe values."""

    def state(self) -> dict[str, Any]:
        """Everything that a newly opened page shows."""

    def interact(self, text: str, knowledge: str | None) -> dict[str, Any]:
        """Set the knowledge unless it is None, send a message and get the reply."""

    def evidence(self, number: int) -> dict[str, Any]:
        """Find the evidence of a turn, counted from 1, and return the turn."""

    def reset(self) -> dict[str, Any]:
        """Start a new conversation and return its state."""


class ChatHost:
    """
    Stands between the requests and a conversation.

    :meth:`run` belongs to one thread. The other methods may be called from any, and
    return a future, which fails with RequestError if the chat ends first.
    """

    def __init__(self, conversation: ServedConversation):
        self.conversation = conversation
        self._requests: SimpleQueue[Task | None] = SimpleQueue()
        self._over = False
        self._messages: set[Future[Any]] = set()
        # The number of resets, the message being replied to, and the state before it.
        # Only the thread of run() changes them.
        self._number = 0
        self._pending: str | None = None
        self._before: dict[str, Any] = {}

    def run(self) -> None:
        """Carry out what is asked until :meth:`stop`."""
        while (request := self._next()) is not None:
            _carry_out(*request)

    def stop(self) -> None:
        """End :meth:`run` once it has carried out all that was asked before."""
        self._requests.put(None)

    def close(self) -> None:
        """Take nothing more, and let those know that were not reached."""
        self._over = True
        while not self._requests.empty():
            if (request := self._requests.get()) is not None:
                _end(request[0])

    def state(self) -> Future[Any]:
        """What a newly opened page shows; it does not wait for a reply in progress."""
        pending = self._pending
        if pending is not None:
            now: Future[Any] = Future()
            now.set_result({**self._before, 'pending': pending})
            return now
        return self._ask(lambda: self._numbered(self.conversation.state()))

    def interact(
        self, text: str, knowledge: str | None, listener: Listener
    ) -> Future[Any]:
        """
        Send a message and get the reply.

        :param listener: hears the steps of the reply, in the thread of :meth:`run`.
        :raises RequestError: when too many messages wait already.
        """
        if len(self._messages) >= MAX_WAITING:
            raise RequestError(
                HTTPStatus.TOO_MANY_REQUESTS,
                f'{MAX_WAITING} messages are waiting for replies. Try again later.',
            )
        future = self._ask(lambda: self._interact(text, knowledge, listener))
        self._messages.add(future)
        future.add_done_callback(self._messages.discard)
        return future

    def evidence(self, number: int, conversation: int) -> Future[Any]:
        """The evidence of a turn of this conversation."""
        return self._ask(lambda: self._evidence(number, conversation))

    def reset(self) -> Future[Any]:
        """Start a new conversation."""
        return self._ask(self._reset)

    def _next(self) -> Task | None:
        # A Ctrl-C just before the wait begins does not end it. Without a timeout it
        # would go unnoticed until the next request.
        while True:
            try:
                return self._requests.get(timeout=_LOOK_SECONDS)
            except Empty:
                pass

    def _ask(self, act: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._requests.put((future, act))
        if self._over:
            # A connection that is still open may bring another request.
            _end(future)
        return future

    def _interact(
        self, text: str, knowledge: str | None, listener: Listener
    ) -> dict[str, Any]:
        self._before = self._numbered(self.conversation.state())
        self._pending = text
        try:
            with listening(listener):
                turn = self.conversation.interact(text, knowledge)
        finally:
            self._pending = None
        return {**turn, 'conversation': self._number}

    def _evidence(self, number: int, conversation: int) -> dict[str, Any]:
        turns = self.conversation.state()['turns']
        if conversation != self._number or not 1 <= number <= len(turns):
            problem = f'This conversation has no turn {number}.'
            raise RequestError(HTTPStatus.NOT_FOUND, problem)
        return {'turn': self.conversation.evidence(number)}

    def _reset(self) -> dict[str, Any]:
        self._number += 1
        return self._numbered(self.conversation.reset())

    def _numbered(self, state: dict[str, Any]) -> dict[str, Any]:
        turns = list(state['turns'])  # a copy: the conversation extends its own list
        added = {'turns': turns, 'conversation': self._number, 'pending': None}
        return {**state, **added}


def _carry_out(future: Future[Any], act: Callable[[], Any]) -> None:
    try:
        future.set_result(act())
    except Exception as e:
        future.set_exception(e)
    except BaseException:
        _end(future)
        raise


def _end(future: Future[Any]) -> None:
    problem = 'The chat has ended.'
    with suppress(InvalidStateError):
        future.set_exception(RequestError(HTTPStatus.SERVICE_UNAVAILABLE, problem))
