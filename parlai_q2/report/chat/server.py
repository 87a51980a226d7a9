"""
Serves one conversation to browsers. uvicorn answers in the thread that called
:meth:`PageServer.serve`, and another thread makes the conversation and holds it.
"""

import ipaddress
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import uvicorn

from parlai_q2.report.chat.access import Access
from parlai_q2.report.chat.app import ChatHost, ServedConversation, make_app
from parlai_q2.report.page import render_chat
from parlai_q2.web import listen, make_config

MAX_CONNECTIONS = 64
# How long a reply under way may take when the chat ends.
_GRACE_SECONDS = 0.5
# What a shell gives a command that Ctrl-C ended.
EXIT_CODE = 128 + signal.SIGINT


class PageServer:
    """
    Binds its port when created, and answers while :meth:`serve` runs.

    :param port: 0 takes any free one.
    :param allowed: names that it answers to, besides its addresses and the machine's
        own name.
    :raises ConfigError: when it cannot listen there.
    """

    def __init__(self, host: str, port: int, allowed: Iterable[str] = ()):
        self._socket = listen(host, port)
        self.server_address: tuple[Any, ...] = self._socket.getsockname()
        address = str(self.server_address[0])
        names = {'localhost', '127.0.0.1', '::1', address, *map(str.lower, allowed)}
        machine = socket.gethostname().lower()
        if not self.private:
            names |= {machine, f'{machine}.local'}
        # An address that stands for all of them is none to open.
        is_everywhere = ipaddress.ip_address(address).is_unspecified
        name = f'[{address}]' if ':' in address else address
        if is_everywhere:
            name = machine
        url = f'http://{name}:{self.server_address[1]}/'
        self.access = Access(frozenset(names), self.private, url)
        self.host: ChatHost | None = None
        self._server: uvicorn.Server | None = None

    def __enter__(self) -> 'PageServer':
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    @property
    def url(self) -> str:
        """The address to open, with the token that takes part."""
        return f'{self.access.url}#{self.access.token}'

    @property
    def private(self) -> bool:
        """Whether only this machine can reach the server."""
        return ipaddress.ip_address(str(self.server_address[0])).is_loopback

    def serve(self, make_conversation: Callable[[], ServedConversation]) -> None:
        """
        Serve until :meth:`stop` or Ctrl-C, which ends the process soon, even while a
        model's native code runs. The conversation is made in the thread that uses it,
        as a model may be bound to the thread that loaded it.
        """
        worker = ThreadPoolExecutor(1, 'chat')
        try:
            conversation = worker.submit(make_conversation).result()
            page = render_chat(conversation.state()['model'])
            self.host = ChatHost(conversation, worker)
            config = make_config(
                make_app(self.host, page, self.access),
                MAX_CONNECTIONS,
                _GRACE_SECONDS,
                loop='asyncio',
                lifespan='off',
            )
            self._server = uvicorn.Server(config)
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            if wait([worker.submit(int)], _GRACE_SECONDS).not_done:
                task = 'a reply' if self._server else 'loading the model'
                print(f'Ended in the middle of {task}.', file=sys.stderr, flush=True)
                os._exit(EXIT_CODE)
            raise
        finally:
            worker.shutdown(cancel_futures=True)

    def stop(self) -> None:
        """End :meth:`serve` once the reply under way is there."""
        assert self._server is not None, 'the chat is not being served'
        self._server.should_exit = True
