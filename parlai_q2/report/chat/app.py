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
from collections.abc import AsyncIterator
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from parlai_q2.errors import Q2Error
from parlai_q2.report.chat.guards import Access, Guarded, answer_refusal
from parlai_q2.report.chat.host import ChatHost
from parlai_q2.report.chat.messages import (
    MAX_REQUEST,
    RequestError,
    read_message,
    read_place,
)
from parlai_q2.text.visible import visible

_MAX_ERROR = 2_000
# Seconds between the comments of a reply that takes long.
HEARTBEAT = 5.0
# None stands for the end of a reply's steps.
Steps = asyncio.Queue[dict[str, Any] | None]

log = logging.getLogger(__name__)


def make_app(host: ChatHost, page: str, access: Access, patience: float) -> ASGIApp:
    """
    The application of one chat.

    :param page: what :func:`parlai_q2.report.chat_page.render_chat` returned.
    :param patience: seconds until a request's body has arrived.
    """

    async def show_page(request: Request) -> Response:
        return HTMLResponse(page)

    async def show_conversation(request: Request) -> Response:
        return JSONResponse(await _result(host.state()))

    async def interact(request: Request) -> Response:
        text, knowledge = read_message(await _body(request, patience))
        steps: Steps = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def send(step: dict[str, Any] | None) -> None:
            loop.call_soon_threadsafe(steps.put_nowait, step)

        def report(step: str, candidates: int) -> None:
            send({'step': step, 'candidates': candidates})

        reply = host.interact(text, knowledge, report)
        reply.add_done_callback(lambda _: send(None))
        events = _events(steps, reply, access.private)
        return StreamingResponse(events, media_type='text/event-stream')

    async def find_evidence(request: Request) -> Response:
        place = read_place(await _body(request, patience))
        return JSONResponse(await _result(host.evidence(*place)))

    async def reset(request: Request) -> Response:
        await _body(request, patience)
        return JSONResponse(await _result(host.reset()))

    async def refuse(request: Request, error: Exception) -> Response:
        if isinstance(error, RequestError):
            return answer_refusal(error)
        if isinstance(error, HTTPException):
            target = f'{request.method} {request.url.path}'
            problem = f'There is no {visible(target)}.'
            return JSONResponse({'error': problem}, error.status_code)
        log.debug('a request failed', exc_info=error)
        status = HTTPStatus.INTERNAL_SERVER_ERROR
        return JSONResponse({'error': _explain(error, access.private)}, int(status))

    app = Starlette(
        routes=[
            Route('/', show_page, methods=['GET']),
            Route('/conversation', show_conversation, methods=['GET']),
            Route('/interact', interact, methods=['POST']),
            Route('/evidence', find_evidence, methods=['POST']),
            Route('/reset', reset, methods=['POST']),
        ],
        exception_handlers={
            RequestError: refuse,
            HTTPException: refuse,
            Q2Error: refuse,
        },
    )
    return Guarded(_Answering(app, refuse), access)


class _Answering:
    """Answers also what Starlette itself would pass on to be logged."""

    def __init__(self, app: ASGIApp, refuse: Any):
        self.app, self.refuse = app, refuse

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        started = False

        async def send_noting(message: Any) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, send_noting)
        except ClientDisconnect:
            log.debug('a browser left before it was answered')
        except Exception as error:
            if not started:
                answer = await self.refuse(Request(scope), error)
                await answer(scope, receive, send)


async def _events(
    steps: Steps, reply: Future[Any], private: bool
) -> AsyncIterator[str]:
    while True:
        try:
            step = await asyncio.wait_for(steps.get(), HEARTBEAT)
        except asyncio.TimeoutError:
            yield ': still at it\n\n'
            continue
        if step is None:
            break
        yield _event('step', step)
    try:
        yield _event('reply', await _result(reply))
    except Exception as error:
        yield _event('failed', {'error': _explain(error, private)})


def _event(name: str, data: dict[str, Any]) -> str:
    return f'event: {name}\ndata: {json.dumps(data, allow_nan=False)}\n\n'


async def _result(future: Future[Any]) -> Any:
    # Shielded: what one browser asked is carried out even if it leaves.
    return await asyncio.shield(asyncio.wrap_future(future))


async def _body(request: Request, patience: float) -> bytes:
    """The body of a request, of which no more is kept than is allowed."""
    content = b''

    async def read() -> None:
        nonlocal content
        async for block in request.stream():
            content += block
            if len(content) > MAX_REQUEST:
                status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
                raise RequestError(status, f'A request may have {MAX_REQUEST:,} bytes.')

    try:
        await asyncio.wait_for(read(), patience)
    except asyncio.TimeoutError:
        raise RequestError(
            HTTPStatus.REQUEST_TIMEOUT,
            f'The request did not arrive within {patience:g} seconds.',
        ) from None
    return content


def _explain(error: BaseException, private: bool) -> str:
    if isinstance(error, RequestError):
        return str(error)
    name = type(error).__name__
    if not private:
        # The message may name files of this machine, or quote them.
        return f'The reply failed ({name}). The log of the server says why.'
    text = str(error) if isinstance(error, Q2Error) else f'{name}: {error}'
    return visible(text[:_MAX_ERROR])
