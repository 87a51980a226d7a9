"""
Loads ``parlai_q2 serve`` on this machine: ``python -m benchmarks.serve``.

It stands in a process of its own before a server of the chat-completions protocol,
which answers after a while. Clients ask one after the other for some seconds, each with
other texts. It prints how long answers took beside the server's own time, how many
requests had which status, and what memory the proxy has at both ends.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from statistics import quantiles
from typing import Any

import anyio
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from parlai_q2.benchmark.measuring import processor_seconds

PLACES = 'hall museum bridge tower library garden harbour station'.split()
PATH = '/v1/chat/completions'


def facts(number: int) -> tuple[str, str, list[str]]:
    """A passage, a question, and replies of which the second is right."""
    place, year = PLACES[number % len(PLACES)], 1500 + number % 500
    passage = f'The {place} opened in {year}. It was designed by Anna Keller{number}.'
    replies = [f'The {place} opened in {year + 7}.', f'The {place} opened in {year}.']
    replies += [f'It was designed by Anna Keller{number}.', 'I cannot say that.']
    return passage, f'When did the {place} open?', replies


async def reply(request: Request) -> JSONResponse:
    fields = await request.json()
    model = str(fields.get('model'))
    await asyncio.sleep(float(request.app.state.seconds))
    number = int(model) if model.isdecimal() else 0
    texts = facts(number)[2][: fields.get('n') or 1]
    messages = [{'role': 'assistant', 'content': text} for text in texts]
    choices = [
        {'index': n, 'message': message, 'finish_reason': 'stop'}
        for n, message in enumerate(messages)
    ]
    return JSONResponse({'id': model, 'model': model, 'choices': choices})


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
    parser.add_argument('--options', default='', help='of parlai_q2 serve')
    opt = parser.parse_args()
    app = Starlette(routes=[Route(PATH, reply, methods=['POST'])])
    app.state.seconds = opt.upstream_seconds
    server = uvicorn.Server(uvicorn.Config(app, port=8013, log_level='critical'))
    upstream = asyncio.ensure_future(server.serve())
    backend, proxy_url = 'http://127.0.0.1:8013', 'http://127.0.0.1:8014'
    words = f'-m parlai_q2 serve --port 8014 --upstream {backend}/v1 '
    words += '--upstream-timeout 120 --upstream-retries 0 '
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
                async with httpx.AsyncClient(base_url=backend, **settings) as direct:
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
