"""
Answers the requests of the browser chat.

    GET  /              the page
    GET  /conversation  {model, knowledge, explains, turns, conversation}
    POST /interact      {text, knowledge, conversation}:
                        {turn, number, knowledge, conversation}
    POST /evidence      {number, conversation}: {turn}, with its evidence
    POST /reset         {}: as /conversation

Knowledge that is null stays as it is; in an answer, the model takes none. The number
``conversation`` changes with each reset; a message to another than the present one is
refused (410), and one without the number is to the present one. ``explains`` tells
whether a turn may have evidence that is not shown yet. While a message is being replied
to, others are refused, and all else waits. A refusal or a failure is ``{error}``, a
message for the user.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Executor
from http import HTTPStatus
from typing import Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from parlai_q2.errors import Q2Error
from parlai_q2.json_values import JsonObject
from parlai_q2.report.chat.access import (
    Access,
    CheckedApp,
    answer_refusal,
    read_message,
    read_place,
)
from parlai_q2.text.visible import visible
from parlai_q2.web import CLOSE, refuse

_MAX_ERROR = 2_000
# Seconds until a request's body has arrived.
PATIENCE = 30.0
# JSON-safe values, as the page reads them.
State = JsonObject
_logger = logging.getLogger(__name__)


class ServedConversation(Protocol):
    """The conversation that is served."""

    def state(self) -> State:
        """Everything that a newly opened page shows."""

    def interact(self, text: str, knowledge: str | None) -> State:
        """Set the knowledge unless it is None, send a message and get the reply."""

    def evidence(self, number: int) -> State:
        """Find the evidence of a turn, counted from 1, and return the turn."""

    def reset(self) -> None:
        """Start a new conversation."""


class ChatHost:
    """
    Stands between the requests and a conversation. The worker has one thread, which
    carries out what browsers ask, in the order in which they ask, even if a browser has
    left.
    """

    def __init__(self, conversation: ServedConversation, worker: Executor):
        self.conversation, self._worker = conversation, worker
        self._is_replying = False
        self._number = 0  # of resets

    async def state(self) -> State:
        """What a newly opened page shows, once the reply under way is there."""
        return await self._run(self._state)

    async def interact(
        self, text: str, knowledge: str | None, conversation: int | None
    ) -> State:
        """Send a message and get the reply, unless another one is being written."""
        if self._is_replying:
            refuse(409, 'Another reply is being written. Send your message after it.')

        def reply() -> State:
            if conversation not in (None, self._number):
                refuse(
                    410,
                    'Another page has begun a new conversation, which is shown now. '
                    'Check the knowledge and send your message again.',
                )
            turn = self.conversation.interact(text, knowledge)
            return {**turn, 'conversation': self._number}

        self._is_replying = True
        try:
            return await self._run(reply)
        finally:
            self._is_replying = False

    async def evidence(self, number: int, conversation: int) -> State:
        """Find the evidence of a turn of a conversation."""

        def explain() -> State:
            turns = self.conversation.state()['turns']
            if conversation != self._number or not 1 <= number <= len(turns):
                refuse(404, f'This conversation has no turn {number}.')
            return {'turn': self.conversation.evidence(number)}

        return await self._run(explain)

    async def reset(self) -> State:
        """Start a new conversation."""

        def start() -> State:
            self._number += 1
            self.conversation.reset()
            return self._state()

        return await self._run(start)

    async def _run(self, act: Callable[[], State]) -> State:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._worker, act)
        except asyncio.CancelledError:  # by uvicorn, when it is stopped
            refuse(503, 'The chat has ended.')

    def _state(self) -> State:
        state = self.conversation.state()
        # A copy, since the conversation extends its own list.
        turns = list(state['turns'])
        return {**state, 'turns': turns, 'conversation': self._number}


def make_app(host: ChatHost, page: str, access: Access) -> ASGIApp:
    """The application of one chat with its page."""

    async def read_body(request: Request) -> bytes:
        # No longer than the Content-Length that it was let in with.
        try:
            return await asyncio.wait_for(request.body(), PATIENCE)
        except asyncio.TimeoutError:
            problem = f'The request did not arrive within {PATIENCE:g} seconds.'
            refuse(408, problem, CLOSE)

    async def show_page(request: Request) -> Response:
        return HTMLResponse(page)

    async def show_conversation(request: Request) -> Response:
        return JSONResponse(await host.state())

    async def interact(request: Request) -> Response:
        message = read_message(await read_body(request))
        return JSONResponse(await host.interact(*message))

    async def find_evidence(request: Request) -> Response:
        place = read_place(await read_body(request))
        return JSONResponse(await host.evidence(*place))

    async def reset(request: Request) -> Response:
        await read_body(request)
        return JSONResponse(await host.reset())

    async def answer_error(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            if error.detail == HTTPStatus(error.status_code).phrase:  # of the routes
                target = visible(f'{request.method} {request.url.path}')
                error.detail = f'There is no {target}.'
            return answer_refusal(error)
        _logger.debug('a request failed', exc_info=error)
        return JSONResponse({'error': _explain(error, access.private)}, 500)

    app = Starlette(
        routes=[
            Route('/', show_page, methods=['GET']),
            Route('/conversation', show_conversation, methods=['GET']),
            Route('/interact', interact, methods=['POST']),
            Route('/evidence', find_evidence, methods=['POST']),
            Route('/reset', reset, methods=['POST']),
        ],
        exception_handlers={
            kind: answer_error for kind in (HTTPException, Q2Error, Exception)
        },
    )
    return CheckedApp(app, access)


def _explain(error: Exception, private: bool) -> str:
    name = type(error).__name__
    if not private:
        # The message may name files of this machine, or quote them.
        return f'The reply failed ({name}). The log of the server says why.'
    text = str(error) if isinstance(error, Q2Error) else f'{name}: {error}'
    return visible(text[:_MAX_ERROR])
