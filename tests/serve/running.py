"""Runs the proxy in a thread, before a server of the tests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn

from parlai_q2.generate.server import ChatServer
from parlai_q2.rerank import Reranker, Rule
from parlai_q2.serve import ServeSettings, make_app
from parlai_q2.web import listen, make_config
from tests.agents.protocol_server import Broken, Served, serving

BEES = 'Bees have five eyes. Bees live in hives.'
RIGHT, WRONG = 'Bees have five eyes.', 'Wasps build nests of grey paper.'


@contextmanager
def proxy(
    url: str,
    abstain_below: float | None = None,
    grounder: Any = None,
    timeout: float = 5.0,
    relevance: Any = None,
    **settings: Any,
) -> Iterator[httpx.Client]:
    """A running proxy before the server at ``url``, which scores by shared words."""
    reranker = Reranker(
        'precision',
        Rule(abstain_below=abstain_below),
        guards=False,
        explain=None,
        relevance=relevance,
    )
    server = ChatServer(url, timeout=timeout, retries=0, concurrency=64)
    app = make_app(server, reranker, ServeSettings(**settings), grounder)
    with (
        serving_app(app) as base,
        httpx.Client(base_url=base, timeout=20, trust_env=False) as client,
    ):
        yield client


@contextmanager
def serving_app(app: Any) -> Iterator[str]:
    """A running app; its address."""
    socket = listen('127.0.0.1', 0)
    server = uvicorn.Server(make_config(app, 200, 30))
    thread = threading.Thread(target=server.run, kwargs={'sockets': [socket]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f'http://127.0.0.1:{socket.getsockname()[1]}'
    finally:
        # It ends within a fifth of a second, which no test waits for.
        server.should_exit = True


@contextmanager
def proxied(
    model: Any, *broken: Broken, **settings: Any
) -> Iterator[tuple[Served, httpx.Client]]:
    """A server with a model, and a running proxy before it."""
    with serving(model, *broken) as served, proxy(served.url, **settings) as client:
        yield served, client


def said(*contents: Any, **fields: Any) -> dict[str, Any]:
    """A request with a question, whose system messages are given first."""
    messages = [{'role': 'system', 'content': content} for content in contents]
    messages.append({'role': 'user', 'content': 'How many eyes do bees have?'})
    return {'model': 'm', 'messages': messages, **fields}


def chat(client: httpx.Client, *contents: Any, **fields: Any) -> Any:
    """The answer to such a request."""
    answer = client.post('/v1/chat/completions', json=said(*contents, **fields))
    assert answer.status_code == 200, answer.text
    return answer.json()


def text_of(answer: Any) -> str:
    """The first reply of an answer."""
    return answer['choices'][0]['message']['content']
