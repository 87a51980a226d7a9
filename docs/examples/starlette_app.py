"""Chooses replies in a web service: ``uvicorn starlette_app:app --workers 2``."""

from contextlib import asynccontextmanager

from anyio import CapacityLimiter, to_thread
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from parlai_q2 import Reranker
from parlai_q2.errors import Q2Error

reranker = Reranker(explain=None)
one_at_a_time = CapacityLimiter(1)


def rank(knowledge, replies, history=()):
    return reranker.rank(knowledge, replies, history).to_dict()


@asynccontextmanager
async def lifespan(app):
    rank('It is old.', ['It is old.'], ['How old is it?'])  # loads the models
    yield


async def choose(request):
    body = await request.json()
    ranking = await to_thread.run_sync(
        rank,
        body['knowledge'],
        body['replies'],
        body.get('history', []),
        limiter=one_at_a_time,
    )
    return JSONResponse(ranking)


async def refuse(request, error):
    return JSONResponse({'error': str(error)}, 400)


app = Starlette(
    routes=[Route('/', choose, methods=['POST'])],
    exception_handlers={kind: refuse for kind in (Q2Error, KeyError, ValueError)},
    lifespan=lifespan,
)
