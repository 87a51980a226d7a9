"""
Opens the port of a server, and bounds what a connection may take: how many there are,
in all and from one machine, how long one may need to bring the headers and the body of
a request, and how long to take its answer. uvicorn itself has no limit for a client
that sends, or reads, ever more slowly. If there are too many, one that is idle makes
room, or else the one that has been bringing its request for longest, so that slow
clients never keep others out.
"""

import asyncio
import socket
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from parlai_q2.errors import ConfigError

_BACKLOG = 128
_EMPTY = b'Content-Length: 0\r\nConnection: close\r\n\r\n'
BUSY = b'HTTP/1.1 503 Service Unavailable\r\n' + _EMPTY
CUT_OFF = b'HTTP/1.1 400 Bad Request\r\n' + _EMPTY


@dataclass
class Limits:
    """
    What all connections of a server share.

    :param in_all: the most open connections.
    :param from_one: the most of one machine.
    :param patience: seconds until a request's body has arrived, and then until its
        answer has been taken.
    :param headers: seconds until the headers have arrived, if that is less.
    :ivar idle: connections that were answered and may ask again, the oldest first.
    :ivar arriving: connections whose requests have not arrived, the oldest first.
    """

    in_all: int = 64
    from_one: int = 16
    patience: float = 30.0
    headers: float = 10.0
    open: Counter[str] = field(default_factory=Counter)
    idle: 'dict[BoundedConnection, None]' = field(default_factory=dict)
    arriving: 'dict[BoundedConnection, None]' = field(default_factory=dict)

    def has_room(self, address: str) -> bool:
        return self.open.total() < self.in_all and self.open[address] < self.from_one

    def make_room(self, address: str) -> None:
        """End the connection that has been idle, or else arriving, for longest."""
        is_full = self.open.total() >= self.in_all
        for connection in (*self.idle, *self.arriving):
            if is_full or connection.address == address:
                connection.end()
                break


class BoundedConnection(H11Protocol):
    """One connection, within the limits of its server."""

    def __init__(self, limits: Limits, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.address: str | None = None
        self._limits = limits
        self._timer: asyncio.TimerHandle | None = None
        self._taking: asyncio.TimerHandle | None = None
        self._headers_arrived = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; one too many hears that the server is busy."""
        address = str(transport.get_extra_info('peername')[0])
        limits = self._limits
        if not limits.has_room(address):
            limits.make_room(address)
        if not limits.has_room(address):
            transport.write(BUSY)
            transport.close()
            return
        self.address = address
        limits.open[address] += 1
        super().connection_made(transport)
        self._expect(min(limits.headers, limits.patience))

    def data_received(self, data: bytes) -> None:
        """Take what came, and note whether that completes a request."""
        if self.address is None:
            return
        self._limits.idle.pop(self, None)
        if self._timer is None:  # another request on the same connection
            self._expect(min(self._limits.headers, self._limits.patience))
        super().data_received(data)
        if self.conn.their_state is h11.SEND_BODY and not self._headers_arrived:
            self._expect(self._limits.patience)
            self._headers_arrived = True
        elif self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._expect_no_more()

    def on_response_complete(self) -> None:
        """Note whether the client has asked for nothing else."""
        super().on_response_complete()
        is_over = self.cycle is not None and self.cycle.response_complete
        if is_over and self.address is not None:  # else it is gone
            self._limits.idle[self] = None

    def eof_received(self) -> None:
        """Tell a client that sends no more, in the middle of its request."""
        is_answered = self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE)
        is_begun = self._headers_arrived or bool(self.conn.trailing_data[0])
        if self.address is not None and is_begun and not is_answered:
            self.transport.write(CUT_OFF)

    def connection_lost(self, exc: Exception | None) -> None:
        self._was_taken()
        self._forget()
        if self.transport is not None:  # else it was one too many
            super().connection_lost(exc)

    def end(self) -> None:
        self._forget()
        self.transport.abort()

    def _forget(self) -> None:
        self._expect_no_more()
        self._limits.idle.pop(self, None)
        if self.address is not None:
            self._limits.open[self.address] -= 1
            self._limits.open += Counter()  # forget those that have none
            self.address = None

    def pause_writing(self) -> None:
        """The client does not take its answer; it has a while to go on."""
        super().pause_writing()
        if self._taking is None:
            wait = self._limits.patience
            self._taking = self.loop.call_later(wait, self.transport.abort)

    def resume_writing(self) -> None:
        self._was_taken()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if its client has not taken everything."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self._limits.patience, self.transport.abort)

    def _expect(self, seconds: float) -> None:
        self._expect_no_more()
        # Somewhat longer than the application waits, so that it can say what is wrong.
        self._timer = self.loop.call_later(seconds + 1, self.transport.abort)
        self._limits.arriving[self] = None

    def _expect_no_more(self) -> None:
        self._headers_arrived = False
        self._limits.arriving.pop(self, None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _was_taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; a ConfigError if that cannot be."""
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((host, port))
        opened.listen(_BACKLOG)
    except (OSError, OverflowError) as e:
        opened.close()
        raise ConfigError(
            f'Cannot listen on port {port} of {host} ({e}). Choose another '
            f'port, such as --port {port % 65535 + 1}, or let the system pick '
            'a free one: --port 0'
        ) from e
    return opened


def make_config(
    app: Any, limits: Limits, last_seconds: float, **options: Any
) -> uvicorn.Config:
    """
    How uvicorn serves an app without logs and with bounded connections.

    :param last_seconds: how long requests may take to end after the server is stopped.
    """
    return uvicorn.Config(
        app,
        http=partial(BoundedConnection, limits),  # type: ignore[arg-type]
        ws='none',
        log_config=None,
        log_level='critical',
        access_log=False,
        # Whoever connects could otherwise choose the address that is counted.
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=last_seconds,  # type: ignore[arg-type]
        **options,
    )
