"""
What our servers, the browser chat and the proxy, have in common: refusing a request,
opening a port, and how uvicorn serves there. uvicorn has no limit for a client that
sends, or reads, ever more slowly: before a server that others can reach, a proxy must
end such connections.
"""

import secrets
import socket
from collections.abc import Mapping
from typing import Any, NoReturn

import uvicorn
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from parlai_q2.errors import ConfigError

# The rest of a request that does not arrive in time is not waited for.
CLOSE = {'Connection': 'close'}

_BACKLOG = 128


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
    app: Any, most_connections: int, last_seconds: float, **options: Any
) -> uvicorn.Config:
    """
    How uvicorn serves an app without logs.

    :param most_connections: the number of open connections at which requests get 503.
    :param last_seconds: how long requests may take to end after the server is stopped.
    """
    return uvicorn.Config(
        app,
        http='h11',
        ws='none',
        log_config=None,
        log_level='critical',
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=most_connections,
        timeout_graceful_shutdown=last_seconds,  # type: ignore[arg-type]
        **options,
    )


def refuse(
    status: int, problem: str, headers: Mapping[str, str] | None = None
) -> NoReturn:
    """Refuse a request, with a message for the user."""
    raise HTTPException(status, problem, headers)


def check_token(headers: Headers, token: str, problem: str) -> None:
    """Refuse a request without the bearer token."""
    kind, _, sent_token = headers.get('authorization', '').partition(' ')
    is_same = secrets.compare_digest(sent_token.strip().encode(), token.encode())
    if kind.lower() != 'bearer' or not is_same:
        refuse(401, problem)


def check_body(headers: Headers, most: int, needs_length: bool = False) -> None:
    """
    Refuse a body before it is read: what is not JSON, which pages of other sites can
    send without asking; more than ``most`` bytes; with ``needs_length``, also what does
    not say its length.
    """
    kind = headers.get('content-type', '').partition(';')[0].strip().lower()
    if kind != 'application/json':
        refuse(415, 'Send Content-Type: application/json')
    length = headers.get('content-length', '')
    is_number = length.isascii() and length.isdigit()
    if needs_length and ('transfer-encoding' in headers or not is_number):
        refuse(411, 'Send a Content-Length, and no Transfer-Encoding.')
    if is_number and (len(length) > 15 or int(length) > most):
        refuse_size(most)


def refuse_size(most: int) -> NoReturn:
    """Refuse a request that is too large."""
    refuse(413, f'A request may have at most {most:,} bytes.')
