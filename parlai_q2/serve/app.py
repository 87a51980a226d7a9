"""
Answers the proxy's requests.

    POST /v1/chat/completions   the most grounded of several replies
    POST /v1/rerank             {query, documents}: replies in order; query: a passage
                                (also /rerank and /v2/rerank)
    POST /v1/score              {pairs} or {knowledge, response}: scores and claims
    GET  /v1/models             the upstream server's
    GET  /health, /metrics      for machines
    GET  /docs, /openapi.json   for people
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

import yaml
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from parlai_q2.claims import not_verifiable
from parlai_q2.cli.serve_settings import ServeSettings
from parlai_q2.errors import InputError
from parlai_q2.generate.server import ChatServer
from parlai_q2.io.knowledge import KnowledgeGrounder
from parlai_q2.io.read import read_example, read_messages
from parlai_q2.rerank import Candidate, Pool, Reranker
from parlai_q2.serve.answers import (
    SSE,
    Json,
    describe_grounding,
    make_headers,
    stream_answer,
    unscored_grounding,
)
from parlai_q2.serve.gate import (
    RERANK_PATHS,
    Gate,
    answer_error,
    read_body,
    until_disconnect,
)
from parlai_q2.serve.grounded import GroundedChat
from parlai_q2.serve.metrics import CONTENT_TYPE
from parlai_q2.serve.request import check_knowledge
from parlai_q2.serve.sentences import pass_on, stream_sentences
from parlai_q2.text.messages import reply_text
from parlai_q2.turns import passages_of
from parlai_q2.version import __version__
from parlai_q2.web import refuse

# The most replies of a request to /v1/rerank and /v1/score.
MAX_REPLIES = 1000


def make_app(
    server: ChatServer | str,
    reranker: Reranker | None = None,
    settings: ServeSettings | None = None,
    grounder: KnowledgeGrounder | None = None,
) -> Starlette:
    """
    The proxy as an ASGI application.

    :param server: the upstream server, or its URL.
    :param reranker: ranks the replies; None for the default, with the claims of the
        scorer that chooses.
    :param settings: how it answers; None for the defaults.
    :param grounder: searches documents for the knowledge of a conversation.
    """
    if isinstance(server, str):
        server = ChatServer(server, retries=2, concurrency=64)
    settings = settings or ServeSettings()
    chat = GroundedChat(server, reranker or Reranker(explain=None), settings, grounder)
    endpoints = Endpoints(chat)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with chat.open():
            yield

    return Starlette(
        routes=[
            Route('/v1/chat/completions', endpoints.chat, methods=['POST']),
            *(Route(p, endpoints.rerank, methods=['POST']) for p in RERANK_PATHS),
            Route('/v1/score', endpoints.score, methods=['POST']),
            Route('/v1/models', endpoints.models, methods=['GET']),
            Route('/health', endpoints.health, methods=['GET']),
            Route('/metrics', endpoints.metrics, methods=['GET']),
            Route('/openapi.json', endpoints.openapi, methods=['GET']),
            Route('/docs', endpoints.docs, methods=['GET']),
        ],
        middleware=[
            Middleware(TrustedHostMiddleware, allowed_hosts=list(settings.hosts)),
            Middleware(Gate, settings=settings, metrics=chat.metrics),
        ],
        exception_handlers={HTTPException: _refused},
        lifespan=lifespan,
    )


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code in (404, 405):
        error.detail = f'There is no {request.method} {request.url.path}. See /docs'
    return answer_error(error)


class Endpoints:
    """The functions that answer requests."""

    def __init__(self, chat: GroundedChat):
        self._chat = chat

    async def chat(self, request: Request) -> Response:
        """Answer with the most grounded reply."""
        chat = self._chat
        body = await read_body(request, chat.settings)
        key = self._upstream_key(request)
        chat_request = await until_disconnect(request, chat.read(body))
        if chat_request.is_streamed and not chat_request.is_declined:
            if chat_request.unscored is not None:
                headers = make_headers(unscored_grounding(chat_request.unscored))
                events = pass_on(chat, chat_request, key)
                return await _stream(request, events, headers)
            in_sentences = chat.settings.stream_sentences and not chat_request.courtesy
            if in_sentences and chat_request.choices == 1:
                return await _stream(request, stream_sentences(chat, chat_request, key))
        answer = await until_disconnect(request, chat.answer(chat_request, key))
        grounding = describe_grounding(answer)
        chat.count(grounding)
        headers = make_headers(grounding)
        if chat_request.is_streamed:
            chunks = stream_answer(answer.completion, grounding, chat_request.has_usage)
            return StreamingResponse(chunks, headers=headers, media_type=SSE)
        return Json({**answer.completion, 'grounding': grounding}, headers=headers)

    async def rerank(self, request: Request) -> Response:
        """Replies (``documents``), those best grounded in ``query`` first."""
        body = await read_body(request, self._chat.settings)
        query, documents = body.get('query'), body.get('documents')
        if (
            not isinstance(query, (str, list))
            or not isinstance(documents, list)
            or not 0 < len(documents) <= MAX_REPLIES
        ):
            refuse(
                400,
                '"query" must be the knowledge, and "documents" the replies: a list '
                f'of 1 to {MAX_REPLIES}.',
            )
        replies = map(_as_text, documents)
        top = body.get('top_n')
        if top is not None and (type(top) is not int or top < 1):
            refuse(400, '"top_n" must be a whole number of at least 1.')
        history = body.get('history') or []
        if not isinstance(history, list):
            refuse(400, '"history" must be a list of the turns before the reply.')
        pool = Pool(passages_of(query), map(Candidate, replies), history)
        check_knowledge(pool.knowledge, self._chat.settings.max_knowledge)
        ranking = await until_disconnect(request, self._chat.rank(pool))
        # As clients of such servers expect; the ranking also counts relevance.
        scores = {
            candidate.place: (candidate.guarded_score or 0.0) * bool(candidate.text)
            for candidate in ranking
        }
        by_score = sorted(ranking, key=lambda candidate: -scores[candidate.place])
        results = [
            {
                'index': candidate.place,
                'relevance_score': scores[candidate.place],
                'document': {'text': candidate.text},
                'label': candidate.score and str(candidate.score.label),
            }
            for candidate in by_score[:top]
        ]
        return Json({'model': str(body.get('model') or ''), 'results': results})

    async def score(self, request: Request) -> Response:
        """Score one response, or many, with their labels and claims."""
        body = await read_body(request, self._chat.settings)
        pairs = body.get('pairs', [body])
        if not isinstance(pairs, list) or len(pairs) > MAX_REPLIES:
            refuse(400, f'"pairs" must be a list of at most {MAX_REPLIES}.')
        examples = []
        for number, pair in enumerate(pairs):
            try:
                fields = read_messages(pair) if isinstance(pair, dict) else {}
                examples.append(read_example(fields))
            except InputError as error:
                raise InputError(f'Pair {number} {error}') from None
        pools = [Pool(e.knowledge, [Candidate(e.response)]) for e in examples]
        for pool in pools:
            check_knowledge(pool.knowledge, self._chat.settings.max_knowledge)
        work = self._chat.rank_all(pools)
        data = []
        for number, ranking in enumerate(await until_disconnect(request, work)):
            score = ranking.chosen.displayed_score or not_verifiable()
            data.append({'index': number, **score.to_dict()})
        return Json({'object': 'list', 'data': data})

    async def models(self, request: Request) -> Response:
        """The upstream server's models, which some clients ask for first."""
        key = self._upstream_key(request)
        return Json(await self._chat.connection.get('/models', key))

    def _upstream_key(self, request: Request) -> str:
        """The client's key, unless it is the proxy's own."""
        if self._chat.settings.api_key:
            return ''
        return request.headers.get('authorization', '')

    async def health(self, request: Request) -> Response:
        """Whether requests are answered."""
        return Json({'status': 'ok', 'version': __version__})

    async def metrics(self, request: Request) -> Response:
        """Counts and times, as Prometheus reads them."""
        return Response(self._chat.metrics.render(), media_type=CONTENT_TYPE)

    async def openapi(self, request: Request) -> Response:
        """The description of all this for programs."""
        return Json(_schema())

    async def docs(self, request: Request) -> Response:
        """The description of all this for people."""
        from jinja2 import Template

        page = files('parlai_q2.serve').joinpath('docs.html').read_text('utf-8')
        template = Template(page, autoescape=True)
        return HTMLResponse(template.render(schema=_schema()))


async def _stream(
    request: Request,
    events: AsyncIterator[bytes],
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A stream whose first event is there, so that a failure has its status."""
    first = await until_disconnect(request, anext(events))

    async def all_events() -> AsyncIterator[bytes]:
        yield first
        try:
            async for event in events:
                yield event
        except Exception as error:
            answer = answer_error(error)
            yield b'data: %s\n\n' % bytes(answer.body)

    return StreamingResponse(all_events(), headers=headers, media_type=SSE)


def _as_text(value: object) -> str:
    text = value.get('text') if isinstance(value, dict) else value
    if not isinstance(text, str):
        refuse(400, '"documents" must be texts, or objects with "text".')
    return reply_text(text)


def _schema() -> Any:
    text = files('parlai_q2.serve').joinpath('openapi.yaml').read_text('utf-8')
    schema = yaml.safe_load(text)
    schema['info']['version'] = __version__
    return schema
