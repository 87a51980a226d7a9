"""
Serves one conversation to browsers. Each request has a thread of its own, but only the
thread that called :meth:`ChatServer.serve` touches the conversation. So requests never
interleave, and Ctrl-C in that thread ends even a reply in progress.
"""

import ipaddress
import logging
import socket
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from http import HTTPStatus
from http.server import ThreadingHTTPServer
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Callable, Iterable, Optional, Protocol

from parlai_q2.errors import ConfigError
from parlai_q2.report.chat_requests import ChatRequest, Refused

# How often the threads check whether they should end.
_LISTEN_SECONDS = 0.2
# The most connections at a time: in all, and from one of the other machines.
MOST_CONNECTIONS, MOST_FROM_ONE = 64, 16
_BUSY = b'HTTP/1.0 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n'

log = logging.getLogger(__name__)


class Conversation(Protocol):
    """The conversation that is served. Its methods take and return JSON-safe values."""

    def state(self) -> dict[str, Any]:
        """Everything that a newly opened page shows."""

    def interact(self, text: str, knowledge: Optional[str]) -> dict[str, Any]:
        """Set the knowledge unless it is None, send a message and get the reply."""

    def evidence(self, number: int) -> dict[str, Any]:
        """Find the evidence of a turn, counted from 1, and return the turn."""

    def reset(self) -> dict[str, Any]:
        """Start a new conversation and return its state."""


class ChatServer(ThreadingHTTPServer):
    """
    Binds its port when created, and answers while :meth:`serve` runs.

    :param port: 0 takes any free one.
    :param allowed: names that it answers to, besides its addresses and the machine's
        own name.
    :raises ConfigError: when it cannot listen there.
    """

    daemon_threads = True
    conversation: Conversation
    page = ''
    _over = False
    # The number of resets, the message being replied to, and the state before it. Only
    # the serving thread changes them.
    _number = 0
    _pending: Optional[str] = None
    _before: dict[str, Any] = {}

    def __init__(self, host: str, port: int, allowed: Iterable[str] = ()):
        if ':' in host:
            self.address_family = socket.AF_INET6
        try:
            super().__init__((host, port), ChatRequest)
        except (OSError, OverflowError) as e:
            raise ConfigError(
                f'Cannot listen on port {port} of {host} ({e}). Choose another '
                f'port, such as --port {port % 65535 + 1}, or let the system pick '
                'a free one: --port 0'
            ) from e
        self._asked: SimpleQueue[Optional[tuple[Future, Callable]]] = SimpleQueue()
        # Each open connection's address.
        self._open: dict[Any, str] = {}
        self._counting = Lock()
        self.names = {'localhost', '127.0.0.1', '::1', str(self.server_address[0])}
        self.names.update(name.lower() for name in allowed)
        if not self.private:
            own = socket.gethostname().lower()
            self.names |= {own, f'{own}.local'}

    @property
    def url(self) -> str:
        """The URL of the page."""
        host, port = self.server_address[:2]
        shown = f'[{host!s}]' if ':' in str(host) else str(host)
        return f'http://{shown}:{port}/'

    @property
    def private(self) -> bool:
        """Whether only this machine can reach the server."""
        return ipaddress.ip_address(str(self.server_address[0])).is_loopback

    def serve(self, conversation: Conversation, page: str) -> None:
        """
        Serve until :meth:`stop` or Ctrl-C.

        :param conversation: the conversation; only this thread uses it.
        :param page: what :func:`parlai_q2.report.chat_page.render_chat` returned.
        """
        self.conversation, self.page = conversation, page
        listener = Thread(
            target=self.serve_forever, args=[_LISTEN_SECONDS], daemon=True
        )
        listener.start()
        try:
            while (asked := self._next()) is not None:
                _carry_out(*asked)
        finally:
            self.shutdown()
            listener.join()
            self._over = True
            while not self._asked.empty():
                if (asked := self._asked.get()) is not None:
                    asked[0].cancel()

    def _next(self) -> Optional[tuple[Future, Callable]]:
        # A Ctrl-C just before the wait begins does not end it. Without a timeout it
        # would go unnoticed until the next request.
        while True:
            try:
                return self._asked.get(timeout=_LISTEN_SECONDS)
            except Empty:
                pass

    def stop(self) -> None:
        """End :meth:`serve` once it has carried out all earlier requests."""
        self._asked.put(None)

    def state(self) -> dict[str, Any]:
        """What a newly opened page shows; it does not wait for a reply in progress."""
        pending = self._pending
        if pending is not None:
            return {**self._before, 'pending': pending}
        return self.ask(lambda: self._numbered(self.conversation.state()))

    def interact(self, text: str, knowledge: Optional[str]) -> dict[str, Any]:
        """Send a message and get the reply. To be called by :meth:`ask`."""
        self._before = self._numbered(self.conversation.state())
        self._pending = text
        try:
            found = self.conversation.interact(text, knowledge)
        finally:
            self._pending = None
        return {**found, 'conversation': self._number}

    def evidence(self, number: int, conversation: int) -> dict[str, Any]:
        """The evidence of a turn of this conversation. To be called by :meth:`ask`."""
        turns = self.conversation.state()['turns']
        if conversation != self._number or not 1 <= number <= len(turns):
            problem = f'This conversation has no turn {number}.'
            raise Refused(HTTPStatus.NOT_FOUND, problem)
        return {'turn': self.conversation.evidence(number)}

    def reset(self) -> dict[str, Any]:
        """Start a new conversation. To be called by :meth:`ask`."""
        self._number += 1
        return self._numbered(self.conversation.reset())

    def _numbered(self, state: dict[str, Any]) -> dict[str, Any]:
        turns = list(state['turns'])  # a copy: the conversation extends its own list
        more = {'turns': turns, 'conversation': self._number, 'pending': None}
        return {**state, **more}

    def ask(self, act: Callable[..., Any], *values: Any) -> Any:
        """
        Have the serving thread call a function, and wait for the result.

        :raises Refused: when the server stops before the call.
        """
        future: Future = Future()
        self._asked.put((future, lambda: act(*values)))
        if self._over:
            # A connection that is still open may bring another request.
            future.cancel()
        try:
            return future.result()
        except CancelledError:
            problem = 'The chat has ended.'
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, problem) from None

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether to take a connection; one too many hears that the server is busy."""
        address = str(client_address[0])
        with self._counting:
            same = sum(other == address for other in self._open.values())
            full = len(self._open) >= MOST_CONNECTIONS
            if not full and (self.private or same < MOST_FROM_ONE):
                self._open[request] = address
                return True
        with suppress(OSError):
            request.settimeout(_LISTEN_SECONDS)
            request.sendall(_BUSY)
        return False

    def shutdown_request(self, request: Any) -> None:
        """End a connection."""
        with self._counting:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log at debug level only: a browser may disconnect before it is answered."""
        log.debug('a request from %s was not finished', client_address, exc_info=True)


def _carry_out(future: Future, act: Callable[[], Any]) -> None:
    try:
        future.set_result(act())
    except Exception as e:
        future.set_exception(e)
    except BaseException:
        future.cancel()
        raise
