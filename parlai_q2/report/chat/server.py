"""
Serves one conversation to browsers: opens the port, has uvicorn answer in a thread of
its own, and lets the thread that called :meth:`ChatServer.serve` hold the conversation.
"""

import ipaddress
import socket
from collections.abc import Iterable
from functools import partial
from threading import Thread
from typing import Any

import uvicorn

from parlai_q2.errors import ConfigError
from parlai_q2.report.chat.app import make_app
from parlai_q2.report.chat.connections import BoundedConnection, Limits
from parlai_q2.report.chat.ctrl_c import end_within
from parlai_q2.report.chat.guards import Access
from parlai_q2.report.chat.host import ChatHost, ServedConversation

_BACKLOG = 128
# From Ctrl-C until the process has ended, whatever it is at.
CTRL_C_SECONDS = 1.5
# Until answers under way have been sent.
_LAST_WORDS_SECONDS = 1


class ChatServer:
    """
    Binds its port when created, and answers while :meth:`serve` runs.

    :param port: 0 takes any free one.
    :param allowed: names that it answers to, besides its addresses and the machine's
        own name.
    :param limits: of its connections; None for the default, which does not limit how
        many are this machine's where only this machine can connect.
    :raises ConfigError: when it cannot listen there.
    """

    def __init__(
        self,
        host: str,
        port: int,
        allowed: Iterable[str] = (),
        limits: Limits | None = None,
    ):
        self._socket = listen(host, port)
        self.server_address: tuple[Any, ...] = self._socket.getsockname()
        address = str(self.server_address[0])
        names = {'localhost', '127.0.0.1', '::1', address, *allowed}
        machine = socket.gethostname().lower()
        if not self.private:
            names |= {machine, f'{machine}.local'}
        # An address that stands for all of them is none to open.
        is_everywhere = ipaddress.ip_address(address).is_unspecified
        name = f'[{address}]' if ':' in address else address
        if is_everywhere:
            name = machine
        self.access = Access.allow(
            names, self.private, f'http://{name}:{self.server_address[1]}/'
        )
        self.limits = limits or Limits()
        if limits is None and self.private:
            self.limits.from_one = self.limits.in_all
        self._host: ChatHost | None = None

    def __enter__(self) -> 'ChatServer':
        return self

    def __exit__(self, *_: Any) -> None:
        self._socket.close()

    @property
    def url(self) -> str:
        """The address to open, with the token that takes part."""
        return f'{self.access.url}#{self.access.token}'

    @property
    def private(self) -> bool:
        """Whether only this machine can reach the server."""
        return ipaddress.ip_address(str(self.server_address[0])).is_loopback

    @property
    def host(self) -> ChatHost:
        """What carries out the requests while :meth:`serve` runs."""
        assert self._host is not None, 'the chat is not being served'
        return self._host

    def serve(self, conversation: ServedConversation, page: str) -> None:
        """
        Serve until :meth:`stop` or Ctrl-C.

        :param conversation: the conversation; only this thread uses it.
        :param page: what :func:`parlai_q2.report.chat_page.render_chat` returned.
        """
        self._host = host = ChatHost(conversation)
        app = make_app(host, page, self.access, self.limits.patience)
        config = make_config(
            app, self.limits, _LAST_WORDS_SECONDS, loop='asyncio', lifespan='off'
        )
        server = uvicorn.Server(config)
        listener = Thread(
            target=server.run, kwargs={'sockets': [self._socket]}, daemon=True
        )
        listener.start()
        with end_within(CTRL_C_SECONDS):
            try:
                host.run()
            finally:
                host.close()
                server.should_exit = True
                listener.join(2 * _LAST_WORDS_SECONDS)

    def stop(self) -> None:
        """End :meth:`serve` once it has carried out all earlier requests."""
        self.host.stop()


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
    :param options: further ones of :class:`uvicorn.Config`.
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
