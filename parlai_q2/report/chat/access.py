"""
Turns away requests that should not reach the chat, before they are read, and messages
that are none.

Pages of other sites cannot take part: they do not know the token, browsers do not let
them send JSON here without asking first, and the chat answers only to its own names
(DNS rebinding) and to its own origin, where the browser names one. The token travels in
the part of the address that browsers keep to themselves (behind ``#``) and then in a
header, never in a cookie, which other programs of this machine would be sent as well.
"""

import ipaddress
import json
import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parlai_q2.json_values import JsonObject
from parlai_q2.text.visible import visible
from parlai_q2.turns import without_surrogates
from parlai_q2.web import check_body, check_token, refuse

# The limits of a message and of the knowledge in characters, of a request in bytes.
MAX_TEXT = 8_000
MAX_KNOWLEDGE = 20_000
MAX_REQUEST = 500_000
# What needs no token: the page, which holds nothing of the conversation.
OPEN_PATHS = ('/',)

_HEADERS = {
    'Cache-Control': 'no-store',
    # The page itself has the rest of the policy; this directive works only as a header.
    'Content-Security-Policy': "frame-ancestors 'none'",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
}


@dataclass(frozen=True)
class Access:
    """
    Who may take part: the names that the chat answers to, in lower case; whether only
    this machine can reach it; its address, for a refusal; and the token that each
    request but the page's must carry.
    """

    names: frozenset[str]
    private: bool
    url: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    def check(self, path: str, headers: Headers) -> None:
        """Refuse a request by its headers."""
        self._check_host(headers)
        _check_origin(headers)
        if path in OPEN_PATHS:
            return
        check_token(
            headers,
            self.token,
            'This chat asks for its token. Open the whole address that the command '
            'printed, with what follows the #.',
        )

    def _check_host(self, headers: Headers) -> None:
        try:
            name = urlsplit(f'//{headers.get("host", "")}').hostname
        except ValueError:
            name = None
        if name in self.names:
            return
        if self.private:
            refuse(
                403,
                f'This chat is at {self.url}. To let other machines in, start '
                'it with --host 0.0.0.0',
            )
        # An address cannot be pointed elsewhere, as a name can.
        if not _is_address(name):
            refuse(
                403,
                f'This chat does not answer to {visible(str(name))}. Start it with '
                '--allow-host NAME for a name that you gave it.',
            )


class CheckedApp:
    """
    Lets an application hear only what passes, and adds the headers of every answer.
    """

    def __init__(self, app: ASGIApp, access: Access):
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] != 'http':
            return

        async def send_more(message: Message) -> None:
            if message['type'] == 'http.response.start':
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        try:
            self._check(scope)
        except HTTPException as refused:
            await answer_refusal(refused)(scope, receive, send_more)
            return
        await self.app(scope, receive, send_more)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        self.access.check(scope['path'], headers)
        if scope['method'] == 'POST':
            check_body(headers, MAX_REQUEST, needs_length=True)


def answer_refusal(refused: HTTPException) -> JSONResponse:
    body = {'error': refused.detail}
    return JSONResponse(body, refused.status_code, refused.headers)


def _check_origin(headers: Headers) -> None:
    """Refuse a request that its browser says comes from another site's page."""
    origin, host = headers.get('origin'), headers.get('host')
    if origin is None:
        return
    scheme, _, place = origin.partition('://')
    try:
        name = urlsplit(f'//{place}').hostname or ''
    except ValueError:
        name, place = '', ''
    # The chat itself speaks http; a proxy before it, at a name of its own, may not.
    is_local = name == 'localhost' or _is_address(name)
    allowed = ('http',) if is_local else ('http', 'https')
    if not place or place != host or scheme not in allowed:
        refuse(403, f'Requests from pages of {visible(origin)} are not allowed.')


def _is_address(name: str | None) -> bool:
    try:
        ipaddress.ip_address(name or '')
    except ValueError:
        return False
    return True


def read_message(body: bytes) -> tuple[str, str | None, int | None]:
    """
    The text of a message, and the knowledge that came with it, or None; both stripped,
    and with lone surrogates, which no model can read, replaced; and the number of its
    conversation, or None.
    """
    message = _object(body, 'text and, optionally, knowledge')
    text = _text(message, 'text', MAX_TEXT)
    if not text:
        refuse(400, 'The message is empty.')
    conversation = message.get('conversation')
    if conversation is not None and type(conversation) is not int:
        refuse(400, 'conversation must be a whole number.')
    return text, _text(message, 'knowledge', MAX_KNOWLEDGE), conversation


def read_place(body: bytes) -> tuple[int, int]:
    """The numbers of a turn and of its conversation; an HTTPException for others."""
    message = _object(body, 'number and conversation')
    place = message.get('number'), message.get('conversation')
    if not all(type(value) is int for value in place):
        refuse(400, 'number and conversation must be whole numbers.')
    return place  # type: ignore[return-value]


def _object(body: bytes, fields: str) -> JsonObject:
    try:
        message = json.loads(body.decode('utf-8'))
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        refuse(400, f'Send a JSON object with {fields}.')
    return message


def _text(message: JsonObject, name: str, most: int) -> Any:
    value = message.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        refuse(400, f'{name} must be a string.')
    if len(value) > most:
        count = f'{len(value):,} characters'
        refuse(400, f'The {name} has {count}; at most {most:,} are allowed.')
    return without_surrogates(value).strip()
