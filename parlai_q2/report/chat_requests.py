"""
Handles the HTTP requests of the browser chat.

    GET  /              the page
    GET  /conversation  {model, knowledge, turns, conversation, pending}
    POST /interact      {text, knowledge}: {turn, number, knowledge, conversation}
    POST /evidence      {number, conversation}: {turn}, with its evidence
    POST /reset         {}: as /conversation

Knowledge that is null stays as it is; in an answer, the model takes none. The number
``conversation`` changes with each reset; ``pending`` is the message that is being
replied to, or null. A refusal or a failure is ``{error}``, a message for the user.

Pages of other sites cannot take part: browsers do not let them send JSON here without
asking first; the server answers only to its own names (DNS rebinding), and only to its
own origin, where the browser names one.
"""

import io
import ipaddress
import json
import re
import socket
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, NoReturn, Optional
from urllib.parse import urlsplit

from parlai_q2.errors import Q2Error
from parlai_q2.text.visible import visible
from parlai_q2.turns import without_surrogates

if TYPE_CHECKING:
    from parlai_q2.report.chat_server import ChatServer

# The limits of a message and of the knowledge in characters, of a request in bytes.
MAX_TEXT = 8_000
MAX_KNOWLEDGE = 20_000
MAX_REQUEST = 500_000
# A request that is too large is still read, up to this limit, and not kept: otherwise
# its sender would not receive the refusal.
_MAX_READ = 16_000_000
_BLOCK = 65_536
_MAX_ERROR = 2_000
# Until a request has arrived, and then until its answer has been taken.
PATIENCE_SECONDS = 30.0

_HEADERS = {
    'Cache-Control': 'no-store',
    # The page itself has the rest of the policy; this directive works only as a header.
    'Content-Security-Policy': "frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
}


class Refused(Exception):
    """Raised for a request that is refused, with a message for the user."""

    def __init__(self, status: HTTPStatus, problem: str):
        self.status = status
        super().__init__(problem)


class ChatRequest(BaseHTTPRequestHandler):
    """One request."""

    server: 'ChatServer'
    server_version, sys_version = 'parlai_q2', ''

    def setup(self) -> None:
        """Open the connection; all reading from it has one deadline."""
        super().setup()
        self.rfile.close()
        until = time.monotonic() + PATIENCE_SECONDS
        self.rfile = io.BufferedReader(_Timely(self.connection, until))

    def do_GET(self) -> None:
        """Answer a request."""
        status, kind = HTTPStatus.OK, 'application/json'
        try:
            found = self._carry_out()
            if isinstance(found, str):
                kind = 'text/html; charset=utf-8'
        except Refused as e:
            status, found = e.status, {'error': str(e)}
        except Exception as e:
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            found = {'error': self._explained(e)}
        text = found if isinstance(found, str) else json.dumps(found, allow_nan=False)
        body = text.encode('utf-8')
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        for header, value in _HEADERS.items():
            self.send_header(header, value)
        self.connection.settimeout(PATIENCE_SECONDS)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def _explained(self, error: Exception) -> str:
        name = type(error).__name__
        if not self.server.private:
            # The message may name files of this machine, or quote them.
            return f'The reply failed ({name}). The log of the server says why.'
        told = str(error) if isinstance(error, Q2Error) else f'{name}: {error}'
        return visible(told[:_MAX_ERROR])

    def _carry_out(self) -> Any:
        self._check_host()
        self._check_origin()
        request, server = f'{self.command} {urlsplit(self.path).path}', self.server
        if request == 'GET /':
            return server.page
        if request == 'GET /conversation':
            return server.state()
        if request == 'POST /interact':
            return server.ask(server.interact, *read_message(self._read()))
        if request == 'POST /evidence':
            return server.ask(server.evidence, *read_place(self._read()))
        if request == 'POST /reset':
            self._read()
            return server.ask(server.reset)
        raise Refused(HTTPStatus.NOT_FOUND, f'There is no {visible(request)}.')

    def _check_host(self) -> None:
        try:
            name = urlsplit(f'//{self.headers.get("Host", "")}').hostname
        except ValueError:
            name = None
        if name in self.server.names:
            return
        if self.server.private:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f'This chat is at {self.server.url}. To let other machines in, start '
                'it with --host 0.0.0.0',
            )
        # An address cannot be pointed elsewhere, as a name can.
        if not _is_address(name):
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f'This chat does not answer to {visible(str(name))}. Start it with '
                '--allow-host NAME for a name that you gave it.',
            )

    def _check_origin(self) -> None:
        """Refuse a request that its browser says comes from another site's page."""
        origin, host = self.headers.get('Origin'), self.headers.get('Host')
        if origin is not None and origin.partition('://')[2] != host:
            raise Refused(
                HTTPStatus.FORBIDDEN,
                f'Requests from pages of {visible(origin)} are not allowed.',
            )

    def _read(self) -> bytes:
        if self.headers.get_content_type() != 'application/json':
            raise Refused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, 'Send Content-Type: application/json'
            )
        length = self.headers.get('Content-Length', '')
        if not re.fullmatch('[0-9]{1,15}', length):
            raise Refused(HTTPStatus.LENGTH_REQUIRED, 'Send a Content-Length.')
        size = int(length)
        try:
            if size <= MAX_REQUEST:
                return self.rfile.read(size)
            for start in range(0, min(size, _MAX_READ), _BLOCK):
                self.rfile.read(min(_BLOCK, size - start))
        except TimeoutError:
            raise Refused(
                HTTPStatus.REQUEST_TIMEOUT,
                f'The request did not arrive within {PATIENCE_SECONDS:g} seconds.',
            ) from None
        raise Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f'A request may have at most {MAX_REQUEST:,} bytes; this one has {size:,}.',
        )

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the user has no interest in single requests."""


class _Timely(io.RawIOBase):
    """What a connection brings until a time, however slowly it comes."""

    def __init__(self, connection: socket.socket, until: float):
        self._connection, self._until = connection, until

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._connection.settimeout(left)
        return self._connection.recv_into(buffer)


def _is_address(name: Optional[str]) -> bool:
    try:
        ipaddress.ip_address(name or '')
    except ValueError:
        return False
    return True


def read_message(body: bytes) -> tuple[str, Optional[str]]:
    """
    The text of a message, and the knowledge that came with it, or None; both stripped.
    Lone surrogates, which no model can read, are replaced.

    :raises Refused: when the body is anything else, the text is blank, or either is too
        long.
    """
    message = _object(body, 'text and, optionally, knowledge')
    text = _text(message, 'text', MAX_TEXT)
    if not text:
        _refuse('The message is empty.')
    return text, _text(message, 'knowledge', MAX_KNOWLEDGE)


def read_place(body: bytes) -> tuple[int, int]:
    """The numbers of a turn and of its conversation; Refused for anything else."""
    message = _object(body, 'number and conversation')
    place = message.get('number'), message.get('conversation')
    if not all(type(value) is int for value in place):
        _refuse('number and conversation must be whole numbers.')
    return place  # type: ignore[return-value]


def _object(body: bytes, fields: str) -> dict[str, Any]:
    try:
        message = json.loads(body.decode('utf-8'))
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        _refuse(f'Send a JSON object with {fields}.')
    return message


def _text(message: dict[str, Any], name: str, most: int) -> Any:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        _refuse(f'{name} must be a string.')
    if len(value) > most:
        _refuse(
            f'The {name} has {len(value):,} characters; at most {most:,} are allowed.'
        )
    return without_surrogates(value).strip()


def _refuse(problem: str) -> NoReturn:
    raise Refused(HTTPStatus.BAD_REQUEST, problem)
