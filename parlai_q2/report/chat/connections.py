"""
Bounds what a connection may take: how many there are, in all and from one machine, how
long one may need to bring a request, and how long to take its answer. uvicorn itself
has no limit for a client that sends, or reads, ever more slowly.
"""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Optional

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

BUSY = (
    b'HTTP/1.1 503 Service Unavailable\r\n'
    b'Content-Length: 0\r\nConnection: close\r\n\r\n'
)


@dataclass
class Limits:
    """
    What all connections of a server share.

    :param in_all: the most open connections.
    :param from_one: the most of one machine; this machine is not limited where only it
        can connect.
    :param patience: seconds until a request has arrived, and then until its answer has
        been taken.
    """

    in_all: int = 64
    from_one: int = 16
    patience: float = 30.0
    open: Counter = field(default_factory=Counter)


class BoundedConnection(H11Protocol):
    """
    One connection.

    :param limits: those of its server.
    """

    def __init__(self, limits: Limits, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._limits = limits
        self._address: Optional[str] = None
        self._timer: Optional[asyncio.TimerHandle] = None
        self._taking: Optional[asyncio.TimerHandle] = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; one too many hears that the server is busy."""
        address = str(transport.get_extra_info('peername')[0])
        limits = self._limits
        if (
            limits.open.total() >= limits.in_all
            or limits.open[address] >= limits.from_one
        ):
            transport.write(BUSY)
            transport.close()
            return
        self._address = address
        limits.open[address] += 1
        super().connection_made(transport)
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take what came, and note whether that completes a request."""
        if self._address is None:
            return
        self._expect()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._expect_no_more()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        """Let go of the connection."""
        self._expect_no_more()
        self._was_taken()
        if self._address is not None:
            self._limits.open[self._address] -= 1
            self._limits.open += Counter()  # forget those that have none
            self._address = None
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not take its answer; it has a while to go on."""
        super().pause_writing()
        if self._taking is None:
            wait = self._limits.patience
            self._taking = self.loop.call_later(wait, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has taken what was waiting."""
        self._was_taken()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection, even if its client has not taken everything."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self._limits.patience, self.transport.abort)

    def _expect(self) -> None:
        # Somewhat longer than the application waits, so that it can say what is wrong.
        if self._timer is None:
            wait = self._limits.patience + 1
            self._timer = self.loop.call_later(wait, self.transport.abort)

    def _expect_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _was_taken(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None
