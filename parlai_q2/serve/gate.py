"""
Lets requests in: those with the key, as many as there is room for. Whatever a request
raises becomes an answer; nothing that a user wrote is logged.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parlai_q2.cli.serve_settings import ServeSettings
from parlai_q2.errors import ConfigError, InputError, ServerError
from parlai_q2.json_values import JsonObject, read_json
from parlai_q2.serve.answers import Json, error_body
from parlai_q2.serve.metrics import Metrics
from parlai_q2.web import CLOSE, check_body, check_token, refuse, refuse_size

# What is answered without the key, and what is counted by its own name.
OPEN_PATHS = ('/health',)
# Where clients of servers that rerank ask.
RERANK_PATHS = ('/v1/rerank', '/v2/rerank', '/rerank')
PATHS = (
    *('/v1/chat/completions', *RERANK_PATHS, '/v1/score', '/v1/models'),
    *('/health', '/metrics', '/docs', '/openapi.json'),
)
CLIENT_CLOSED = 499  # nginx's status for a client that has left
RETRY_AFTER = '1'
MAX_FRAMES = 4
T = TypeVar('T')
log = logging.getLogger('parlai_q2.serve')


class Gate:
    """
    Stands before an app.

    :param app: answers the requests that are let in.
    """

    def __init__(self, app: ASGIApp, settings: ServeSettings, metrics: Metrics):
        self.app, self.settings, self.metrics = app, settings, metrics
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope['type'] != 'http':
            await self.app(scope, receive, send)
            return
        status = 0

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message['type'] == 'http.response.start':
                status = message['status']
            await send(message)

        try:
            self._check(scope)
            with self._counted(scope):
                await self.app(scope, receive, send_noting)
        except (ClientDisconnect, asyncio.CancelledError) as error:
            status = CLIENT_CLOSED
            if isinstance(error, asyncio.CancelledError):
                raise
        except Exception as error:
            if not status:
                await answer_error(error)(scope, receive, send_noting)
            else:
                log.warning(f'An answer broke off ({type(error).__name__}).')
                raise
        finally:
            path = scope['path'] if scope['path'] in PATHS else 'other'
            self.metrics.requests.labels(path, str(status)).inc()

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if self.settings.api_key and scope['path'] not in OPEN_PATHS:
            problem = 'The API key is missing or wrong.'
            check_token(headers, self.settings.api_key, problem)
        if scope['method'] == 'POST':
            check_body(headers, self.settings.max_body)

    @contextmanager
    def _counted(self, scope: Scope) -> Iterator[None]:
        """Count a request while it is answered, if it asks for work and has room."""
        if scope['method'] != 'POST':
            yield
            return
        if self._open >= self.settings.max_queue:
            problem = f'{self._open} requests are being answered. Try again later.'
            refuse(429, problem, {'Retry-After': RETRY_AFTER})
        self._open += 1
        self.metrics.in_progress.set(self._open)
        try:
            yield
        finally:
            self._open -= 1
            self.metrics.in_progress.set(self._open)


def answer_error(error: Exception) -> Response:
    """The answer to a request that failed."""
    if isinstance(error, HTTPException):
        body, headers = error_body(error.detail), error.headers
        return Json(body, error.status_code, headers)
    if isinstance(error, (InputError, ConfigError)):
        return Json(error_body(str(error)), 400)
    if isinstance(error, ServerError):
        headers = {}
        if error.retry_after is not None:
            headers['Retry-After'] = f'{error.retry_after:.0f}'
        body = _read_error(error.content) or error_body(str(error), 'upstream_error')
        return Json(body, error.status or 502, headers)
    if isinstance(error, RecursionError):
        # JSON can be read a few levels deeper than it can be written.
        log.warning(f'A request failed: {type(error).__name__}')
        problem = 'The answer of the upstream server is nested too deeply.'
        return Json(error_body(problem, 'upstream_error'), 502)
    frames = ''.join(traceback.format_tb(error.__traceback__)[-MAX_FRAMES:])
    # Without its message, which may quote what a user wrote.
    log.error(f'A request failed: {type(error).__name__}\n{frames}')
    problem = f'The request failed ({type(error).__name__}).'
    return Json(error_body(problem, 'server_error'), 500)


def _read_error(content: bytes) -> Any:
    """The error that a server sent, if it is one of the protocol."""
    try:
        body, _ = read_json(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) and 'error' in body else None


async def read_body(request: Request, settings: ServeSettings) -> JsonObject:
    """The JSON object that a request brings, in time and not too large."""
    content = bytearray()

    async def read() -> None:
        async for block in request.stream():
            content.extend(block)
            if len(content) > settings.max_body:
                refuse_size(settings.max_body)

    try:
        await asyncio.wait_for(read(), settings.patience)
    except (TimeoutError, asyncio.TimeoutError):
        problem = f'The request did not arrive within {settings.patience:g} s.'
        refuse(408, problem, CLOSE)
    try:
        body, odd_fields = read_json(content)
    except (ValueError, RecursionError):
        body, odd_fields = None, ()
    if odd_fields or not isinstance(body, dict):
        refuse(400, 'The body must be a JSON object in UTF-8.')
    return body


async def until_disconnect(request: Request, work: Awaitable[T]) -> T:
    """The result of some work, which ends when the client leaves."""
    task = asyncio.ensure_future(work)
    # The body has been read: what comes now is that the client is gone.
    disconnect = asyncio.ensure_future(request.receive())
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        task.cancel()
        disconnect.cancel()
