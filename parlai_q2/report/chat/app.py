"""
Answers the requests of the browser chat.

    GET  /              the page
    GET  /conversation  {model, knowledge, turns, conversation, pending}
    POST /interact      {text, knowledge}: events, see below
    POST /evidence      {number, conversation}: {turn}, with its evidence
    POST /reset         {}: as /conversation

Knowledge that is null stays as it is; in an answer, the model takes none. The number
``conversation`` changes with each reset; ``pending`` is the message that is being
replied to, or null. A refusal or a failure is ``{error}``, a message for the user.

``/interact`` answers by server-sent events: any number of ``step`` with ``{step,
candidates}``, and at last ``reply`` with ``{turn, number, knowledge, conversation}`` or
``failed`` with ``{error}``. A comment is sent now and then, so that nothing between
takes the connection for idle, and a page that was closed is noticed.
"""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from http import HTTPStatus
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from parlai_q2.errors import Q2Error
from parlai_q2.json_values import JsonObject
from parlai_q2.reply_progress import Listener, listening
from parlai_q2.report.chat.guards import (
    Access,
    Guarded,
    answer_refusal,
    read_message,
    read_place,
)
from parlai_q2.text.visible import visible
from parlai_q2.web import CLOSE, refuse

_MAX_ERROR = 2_000
# Seconds between the comments of a reply that takes long.
HEARTBEAT = 5.0
# How often a page that is opened looks whether the worker has begun a reply.
_LOOK_SECONDS = 0.01
# Seconds until a request's body has arrived.
PATIENCE = 30.0
# The most messages that wait for their replies.
MAX_WAITING = 8
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

    def reset(self) -> State:
        """Start a new conversation and return its state."""


class ChatHost:
    """
    Stands between the requests and a conversation. All but the constructor belongs to
    the event loop. The worker has one thread, which carries out what browsers ask, in
    the order in which they ask, even if a browser has left.
    """

    def __init__(self, conversation: ServedConversation, worker: Executor):
        self.conversation, self._worker = conversation, worker
        self._ended = asyncio.Event()
        self._messages: set[asyncio.Future[State]] = set()
        # The number of resets, the message being replied to, and the state before it.
        # Only the worker changes them.
        self._number = 0
        self._pending: str | None = None
        self._before: State = {}

    def close(self) -> None:
        """Let those know that are not answered yet that the chat has ended."""
        self._ended.set()

    async def state(self) -> State:
        """What a newly opened page shows; it does not wait for a reply in progress."""
        # The worker is about to reply to a message that was just sent.
        while self._messages and self._pending is None and not self._ended.is_set():
            await asyncio.sleep(_LOOK_SECONDS)
        pending = self._pending
        if pending is not None:
            return {**self._before, 'pending': pending}
        result = self._submit(lambda: self._number_state(self.conversation.state()))
        return await self._wait(result)

    def interact(
        self, text: str, knowledge: str | None, listener: Listener
    ) -> 'asyncio.Task[State]':
        """
        Send a message and get the reply, unless too many wait already. The listener
        hears the steps of the reply, in the worker's thread.
        """
        if len(self._messages) >= MAX_WAITING:
            problem = f'{MAX_WAITING} messages are waiting for replies.'
            refuse(429, f'{problem} Try again later.')

        def reply() -> State:
            self._before = self._number_state(self.conversation.state())
            self._pending = text
            try:
                with listening(listener):
                    turn = self.conversation.interact(text, knowledge)
            finally:
                self._pending = None
            return {**turn, 'conversation': self._number}

        result = self._submit(reply)
        self._messages.add(result)
        result.add_done_callback(self._messages.discard)
        return asyncio.ensure_future(self._wait(result))

    async def evidence(self, number: int, conversation: int) -> State:

        def explain() -> State:
            turns = self.conversation.state()['turns']
            if conversation != self._number or not 1 <= number <= len(turns):
                refuse(404, f'This conversation has no turn {number}.')
            return {'turn': self.conversation.evidence(number)}

        return await self._wait(self._submit(explain))

    async def reset(self) -> State:

        def start() -> State:
            self._number += 1
            return self._number_state(self.conversation.reset())

        return await self._wait(self._submit(start))

    def _submit(self, act: Callable[[], State]) -> 'asyncio.Future[State]':
        result = asyncio.get_running_loop().run_in_executor(self._worker, act)
        # Nobody may be there any more to hear of an error.
        result.add_done_callback(lambda done: done.cancelled() or done.exception())
        return result

    async def _wait(self, result: 'asyncio.Future[State]') -> State:
        end = asyncio.ensure_future(self._ended.wait())
        either: set[asyncio.Future[Any]] = {result, end}
        # Unlike await, this does not cancel the work if the browser leaves.
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        end.cancel()
        if not result.done():
            refuse(503, 'The chat has ended.')
        return result.result()

    def _number_state(self, state: State) -> State:
        turns = list(state['turns'])  # a copy: the conversation extends its own list
        added = {'turns': turns, 'conversation': self._number, 'pending': None}
        return {**state, **added}


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
        text, knowledge = read_message(await read_body(request))
        events: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def report(step: str, candidates: int) -> None:
            event = _event('step', {'step': step, 'candidates': candidates})
            loop.call_soon_threadsafe(events.put_nowait, event)

        reply = host.interact(text, knowledge, report)
        reply.add_done_callback(lambda _: events.put_nowait(None))
        return StreamingResponse(
            _stream(events, reply, access.private), media_type='text/event-stream'
        )

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
    return Guarded(app, access)


async def _stream(
    events: 'asyncio.Queue[str | None]', reply: 'asyncio.Task[State]', private: bool
) -> AsyncIterator[str]:
    while True:
        try:
            event = await asyncio.wait_for(events.get(), HEARTBEAT)
        except asyncio.TimeoutError:
            yield ': still at it\n\n'
            continue
        if event is None:  # there are no further steps
            break
        yield event
    try:
        yield _event('reply', await reply)
    except Exception as error:
        yield _event('failed', {'error': _explain(error, private)})


def _event(name: str, data: State) -> str:
    return f'event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n'


def _explain(error: BaseException, private: bool) -> str:
    if isinstance(error, HTTPException):
        return error.detail
    name = type(error).__name__
    if not private:
        # The message may name files of this machine, or quote them.
        return f'The reply failed ({name}). The log of the server says why.'
    text = str(error) if isinstance(error, Q2Error) else f'{name}: {error}'
    return visible(text[:_MAX_ERROR])
