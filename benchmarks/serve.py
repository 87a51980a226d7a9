"""
Loads and fuzzes ``parlai_q2 serve`` on this machine: ``python -m benchmarks.serve``.

A server of the chat-completions protocol, which answers after a while, stands before
it in a process of its own. Clients ask one after the other for some seconds, each with
other texts; or bodies that were spoilt in all ways are sent, on connections that are
slow or closed half-way. It prints how long answers took beside the server's own time,
how many requests had which status, and what memory the proxy has at both ends.
"""

import argparse
import asyncio
import copy
import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Any

import anyio
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from parlai_q2.benchmark import processor_seconds

PLACES = 'hall museum bridge tower library garden harbour station'.split()
PATH = '/v1/chat/completions'
# Answers of a server that is broken, by the name that a request asks for.
BROKEN = ('garbage', 'short', 'stall', 'status', 'utf8', 'empty')


def facts(number: int) -> tuple[str, str, list[str]]:
    """A passage, a question, and replies of which the second is right."""
    place, year = PLACES[number % len(PLACES)], 1500 + number % 500
    passage = f'The {place} opened in {year}. It was designed by Anna Keller{number}.'
    replies = [f'The {place} opened in {year + 7}.', f'The {place} opened in {year}.']
    replies += [f'It was designed by Anna Keller{number}.', 'I cannot say that.']
    return passage, f'When did the {place} open?', replies


async def reply(request: Request) -> Response:
    fields = await request.json()
    model = str(fields.get('model'))
    if model in BROKEN:
        return break_off(model)
    await asyncio.sleep(float(request.app.state.seconds))
    number = int(model) if model.isdecimal() else 0
    texts = facts(number)[2][: fields.get('n') or 1]
    messages = [{'role': 'assistant', 'content': text} for text in texts]
    choices = [
        {'index': n, 'message': message, 'finish_reason': 'stop'}
        for n, message in enumerate(messages)
    ]
    return JSONResponse({'id': model, 'model': model, 'choices': choices})


def break_off(how: str) -> Response:
    if how == 'status':
        return Response('no', 500)
    if how == 'stall':
        return StreamingResponse(stall())
    if how == 'short':
        return Response('{"choices": [', headers={'Content-Length': '13'})
    bodies = {'utf8': b'{"choices": ["\xff"]}', 'empty': b'{"choices": []}'}
    return Response(bodies.get(how, bytes(range(256))))


async def stall() -> AsyncIterator[bytes]:
    yield b'{'
    await asyncio.sleep(30)


async def ask(client: httpx.AsyncClient, number: int) -> tuple[float, int, bool]:
    """The seconds of one answer, and whether it is the right one."""
    passage, question, replies = facts(number)
    messages = [{'role': 'system', 'content': passage}]
    messages.append({'role': 'user', 'content': question})
    body = {'model': str(number), 'messages': messages}
    began = time.perf_counter()
    answer = await client.post(PATH, json=body)
    seconds = time.perf_counter() - began
    is_right = answer.is_success and (
        answer.json()['choices'][0]['message']['content'] == replies[1]
    )
    return seconds, answer.status_code, is_right


async def load(
    client: httpx.AsyncClient, clients: int, seconds: float
) -> tuple[list[float], Counter[int], int]:
    """Have some clients ask one question after the other."""
    end, latencies, right = time.monotonic() + seconds, list[float](), 0
    statuses = Counter[int]()
    numbers = iter(range(10**9))

    async def talk() -> None:
        nonlocal right
        while time.monotonic() < end:
            latency, status, is_right = await ask(client, next(numbers))
            latencies.append(latency)
            statuses[status] += 1
            right += is_right

    async with anyio.create_task_group() as tasks:
        for _ in range(clients):
            tasks.start_soon(talk)
    return latencies, statuses, right


def spoil(draw: random.Random) -> bytes:
    """A body that is wrong in some way, or right."""
    passage, question, _ = facts(draw.randrange(1000))
    body: dict[str, Any] = {
        'model': draw.choice([*BROKEN, '7', '8']),
        'messages': [
            {'role': 'system', 'content': passage},
            {'role': 'user', 'content': question},
        ],
    }
    odd: tuple[Any, ...] = (None, True, -1, 1e308, '', '\ud800', 'x' * 5000)
    odd += ([], [[]], {}, [{}], '\0')
    for _ in range(draw.randrange(3)):
        names = ('messages', 'knowledge', 'documents', 'n', 'stream', 'tools', 'model')
        body[draw.choice((*names, 'stream_options', 'response_format'))] = (
            copy.deepcopy(draw.choice(odd))
        )
    if draw.random() < 0.3 and isinstance(body.get('messages'), list):
        name = draw.choice(('role', 'content', 'tool_calls'))
        with suppress(IndexError, TypeError):
            body['messages'][-1][name] = copy.deepcopy(draw.choice(odd))
    content = json.dumps(body).encode()
    if draw.random() < 0.3:
        place = draw.randrange(len(content))
        content = (
            content[:place] + draw.randbytes(draw.randrange(9)) + content[place + 3 :]
        )
    return content


async def fuzz(
    client: httpx.AsyncClient, url: httpx.URL, count: int, statuses: Counter[Any]
) -> None:
    """Send spoilt bodies, and connections that end too early."""
    draw = random.Random(0)
    free = asyncio.Semaphore(32)
    kind = {'Content-Type': 'application/json'}

    async def send(content: bytes, path: str) -> None:
        async with free:
            answer = await client.post(path, content=content, headers=kind)
            statuses[answer.status_code] += 1

    async def leave(content: bytes) -> None:
        async with free:
            stream = await anyio.connect_tcp(url.host, url.port or 80)
            head = f'POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: '
            head += f'{len(content) + 9}\r\nContent-Type: application/json\r\n\r\n'
            await stream.send(head.encode() + content)
            await stream.send_eof()
            with suppress(anyio.EndOfStream):
                await stream.receive()
            await stream.aclose()
            statuses['left'] += 1

    paths = (PATH,) * 8 + ('/v1/rerank', '/v1/score')
    async with anyio.create_task_group() as tasks:
        for number in range(count):
            content = spoil(draw)
            if number % 10:
                tasks.start_soon(send, content, draw.choice(paths))
            else:
                tasks.start_soon(leave, content)


def memory_of(process: int) -> int:
    """The resident memory of a process in MB."""
    status = Path(f'/proc/{process}/status').read_text()
    return int(status.partition('VmRSS:')[2].split()[0]) // 1000


def show(name: str, latencies: Sequence[float]) -> list[float]:
    cuts = quantiles(latencies, n=20)
    times = f'p50 {cuts[9]:.3f} s, p95 {cuts[18]:.3f} s'
    print(f'{name:<8} {times} ({len(latencies)} requests)')
    return cuts


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--clients', type=int, default=64)
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--upstream-seconds', type=float, default=1.0)
    parser.add_argument('--fuzz', type=int, default=0, help='so many bodies, instead')
    parser.add_argument('--options', default='', help='of parlai_q2 serve')
    opt = parser.parse_args()
    app = Starlette(routes=[Route(PATH, reply, methods=['POST'])])
    app.state.seconds = 0.0 if opt.fuzz else opt.upstream_seconds
    server = uvicorn.Server(uvicorn.Config(app, port=8013, log_level='critical'))
    upstream = asyncio.ensure_future(server.serve())
    backend, proxy_url = 'http://127.0.0.1:8013', 'http://127.0.0.1:8014'
    words = f'-m parlai_q2 serve --port 8014 --upstream {backend}/v1 '
    words += f'--upstream-timeout {5 if opt.fuzz else 120} --upstream-retries 0 '
    words += f'--upstream-concurrency 256 {opt.options}'
    command = [sys.executable, *words.split()]
    limits = httpx.Limits(max_connections=opt.clients)
    settings: dict[str, Any] = {'timeout': 300, 'trust_env': False, 'limits': limits}
    with subprocess.Popen(command) as proxy:
        try:
            async with httpx.AsyncClient(base_url=proxy_url, **settings) as client:
                while True:
                    with suppress(httpx.TransportError):
                        if (await client.get('/health')).is_success:
                            break
                    await asyncio.sleep(0.5)
                await load(client, min(opt.clients, 8), 3)
                before = memory_of(proxy.pid)
                if opt.fuzz:
                    statuses: Counter[Any] = Counter()
                    await fuzz(client, httpx.URL(proxy_url), opt.fuzz, statuses)
                    assert (await client.get('/health')).is_success
                else:
                    async with httpx.AsyncClient(
                        base_url=backend, **settings
                    ) as direct:
                        alone, _, _ = await load(direct, opt.clients, 5)
                    began = processor_seconds(proxy.pid)
                    latencies, statuses, right = await load(
                        client, opt.clients, opt.seconds
                    )
                    ended = processor_seconds(proxy.pid)
                    cuts, base = show('through', latencies), show('direct', alone)
                    print(
                        f'added    p50 {cuts[9] - base[9]:.3f} s, '
                        f'p95 {cuts[18] - base[18]:.3f} s'
                    )
                    print(f'right    {right} of {len(latencies)}')
                    if began is not None and ended is not None:
                        cost = 1000 * (ended - began) / len(latencies)
                        print(f'cost     {cost:.1f} ms of processor time a request')
                print(f'statuses {dict(statuses)}')
                print(f'memory   {before} MB before, {memory_of(proxy.pid)} after')
        finally:
            proxy.terminate()
    server.should_exit = True
    await upstream


if __name__ == '__main__':
    asyncio.run(main())
