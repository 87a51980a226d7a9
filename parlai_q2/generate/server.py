"""
Asks a server for replies by the chat-completions protocol, which vLLM, llama.cpp,
Ollama, TGI and others speak.

Only the host of the given URL is contacted: redirects are errors, and the environment's
proxies are not used. The key is sent only to that host, and never shown.

    >>> server = ChatServer('http://localhost:8000/v1', {'model': 'NAME'})
    >>> # server.replies([[{'role': 'user', 'content': 'Who built it?'}]], [4])
"""

import asyncio
import json
import logging
import os
import random
import re
import ssl
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
from anyio.from_thread import start_blocking_portal

from parlai_q2.errors import ConfigError, InputError, ServerError
from parlai_q2.generate.chat_completions import (
    MAX_ANSWER,
    MAX_EVENT,
    STREAM_END,
    Completion,
    ServerReply,
    has_choices,
    merge_answers,
    read_answer,
    read_events,
    read_reply,
    shorten,
)
from parlai_q2.json_values import JsonMapping, read_json

PATH = '/chat/completions'
HEADERS = {'Content-Type': 'application/json', 'Accept-Encoding': 'identity'}
# A variable of our own: the key of a service must not go to another one.
KEY_VARIABLE = 'PARLAI_Q2_SERVER_KEY'
# The statuses of a busy server, and of one that refuses several replies.
BUSY = (408, 429, 500, 502, 503, 504)
REFUSES_SEVERAL = (400, 422, 500, 501)
# Seconds before the second try, doubled for each further one; the longest wait.
FIRST_WAIT, MAX_WAIT = 0.5, 60.0
# Seconds for which an idle connection is kept: shorter than servers do.
KEEP_ALIVE = 4.0
# The number of requests that a client sends at once.
POOL_SIZE = 8
# The longest stream that is read; it has much besides its text.
MAX_STREAM = 4 * MAX_ANSWER
# The number of models whose replies per request are remembered.
MAX_MODELS = 1000
TIMED_OUT, NO_ANSWER = 504, 502
_KEY = 'Put its key into the environment (--server-key-variable names it).'
HINTS = {
    401: _KEY,
    403: _KEY,
    404: "Is the path right (it often ends with /v1), and the model's name?",
}

_logger = logging.getLogger(__name__)


@dataclass
class ChatServer:
    """
    A server, with the settings of requests to it.

    :param url: the protocol's base URL, such as ``http://localhost:8000/v1``.
    :param settings: fields of every request: ``model``, ``temperature``, ``top_p``, ...
    :param key: sent as bearer token; empty for none.
    :param timeout: seconds that one try may take.
    :param retries: how often a request is sent again if the server is busy, fails or
        breaks off.
    :param concurrency: how many requests may run at once.
    :raises ConfigError: when the URL or the key cannot be used.
    """

    url: str
    settings: JsonMapping = field(default_factory=dict)
    key: str = field(default='', repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 4

    def __post_init__(self) -> None:
        self.base, host = parse_url(self.url)
        if not all('!' <= letter <= '~' for letter in self.key):
            raise ConfigError("The server's key has characters that no key can have.")
        is_local = host in ('localhost', '::1') or host.startswith('127.')
        if self.key and self.base.startswith('http:') and not is_local:
            _logger.warning(f'The key is sent to {host} unencrypted: no https.')
        # The most replies of one request, by the hash of its model, if fewer than
        # requested.
        self._max_replies: dict[int, int] = {}

    def replies(
        self, turns: Sequence[Sequence[JsonMapping]], numbers: Sequence[int]
    ) -> list[list[ServerReply]]:
        """
        Ask for replies to several turns at once.

        :param turns: B dialogues, each ending with the turn to reply to: messages with
            ``role`` and ``content``.
        :param numbers: the number of replies to each, at least 0.
        :return: B lists of that many replies, in the server's order; of fewer if the
            server returns ever fewer.
        :raises ServerError: when the server cannot be reached, or does not answer as
            the protocol says.
        """

        async def ask_all() -> list[Completion]:
            async with self.connect() as connection:
                requests = [
                    connection.complete({'messages': list(messages)}, number)
                    for messages, number in zip(turns, numbers, strict=True)
                ]
                return await _gather(requests)

        # In a thread, because the caller may be inside an event loop, as in a notebook.
        with start_blocking_portal() as portal:
            completions = portal.call(ask_all)
        return [self._read_replies(completion) for completion in completions]

    def _read_replies(self, completion: Completion) -> list[ServerReply]:
        replies = [read_reply(choice) for choice in completion['choices']]
        if replies and not any(reply.text for reply in replies):
            raise ServerError(
                f'{self.url} gave replies without text. If it thinks before it '
                'replies, allow more tokens: --server-max-tokens 1000'
            )
        return replies

    @asynccontextmanager
    async def connect(self) -> AsyncIterator['Connection']:
        """Open connections to the server, for the event loop that this runs in."""
        async with AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(
                    httpx.AsyncClient(
                        headers=HEADERS,
                        timeout=httpx.Timeout(self.timeout),
                        limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE),
                        verify=_tls_context(),
                        trust_env=False,
                    )
                )
                for _ in range(0, self.concurrency, POOL_SIZE)
            ]
            yield Connection(self, clients)


class Connection:
    """
    Open connections to a server, which requests of one event loop share.

    :param clients: send the requests, each up to :data:`POOL_SIZE` at a time: a
        client's time per request grows with the square of its connections.
    """

    def __init__(self, server: ChatServer, clients: Sequence[httpx.AsyncClient]):
        self.server, self.clients = server, clients
        self._running = Counter[httpx.AsyncClient]()
        self._free = asyncio.Semaphore(server.concurrency)

    async def complete(
        self, fields: Mapping[str, object], number: int, authorization: str = ''
    ) -> Completion:
        """
        Ask for all replies at once, and again as long as the server returns fewer.

        :param fields: the fields of this request, besides the server's settings.
        :param number: the number of replies, at least 0.
        :param authorization: the header to send if the server has no key.
        :return: the first answer, with ``number`` choices and the ``usage`` of all;
            with fewer if the server then returns ever fewer.
        :raises ServerError: with the status and the answer of a server that refuses,
            504 if it takes too long, else 502.
        """
        server = self.server
        if not number:
            return {'choices': []}
        answers: list[Completion] = []
        model = hash(str({**server.settings, **fields}.get('model')))

        async def ask(
            count: int, place: int = 0, retries: int = server.retries
        ) -> Completion:
            body = {**server.settings, **fields, 'n': count}
            seed = body.get('seed')
            if place and isinstance(seed, int):
                # The same seed would return the same reply again.
                body['seed'] = seed + place
            return await self._ask(body, authorization, retries)

        if number <= server._max_replies.get(model, number):
            try:
                answers.append(await ask(number))
            except ServerError as error:
                if number == 1 or error.status not in REFUSES_SEVERAL:
                    raise
                # It may accept requests for one reply; otherwise this fails as well.
                retries = 0 if error.is_busy else server.retries
                answers.append(await ask(1, retries=retries))
                _logger.warning(f'{server.url} returns one reply per request.')
            first_count = len(answers[0]['choices'])
            if 0 < first_count < number:
                if len(server._max_replies) >= MAX_MODELS:
                    server._max_replies.clear()
                server._max_replies[model] = first_count
        missing = number - sum(len(answer['choices']) for answer in answers)
        most = server._max_replies.get(model)
        if missing > 0 and most:
            full, rest = divmod(missing, most)
            sizes = [most] * full + [rest] * bool(rest)
            requests = [
                ask(size, place) for place, size in enumerate(sizes, len(answers))
            ]
            answers += await _gather(requests)
        choices = [*chain.from_iterable(answer['choices'] for answer in answers)]
        if not choices:
            raise self._fail(f'was asked for {number} replies and gave 0.')
        return merge_answers(answers, choices[:number])

    async def stream(
        self, fields: Mapping[str, object], authorization: str = ''
    ) -> AsyncGenerator[Completion]:
        """
        Ask for streamed replies.

        :return: the protocol's chunks, one after the other.
        :raises ServerError: as :meth:`complete` does; also between two chunks.
        """
        body = {**self.server.settings, **fields, 'stream': True}
        size = 0
        async with self._free, self._send('POST', PATH, body, authorization) as answer:
            events = read_events(answer.aiter_raw())
            while size < MAX_STREAM:
                event = None
                with anyio.move_on_after(self.server.timeout) as limit:
                    event = await anext(events, None)
                if limit.cancelled_caught:
                    raise self._fail(self._slow, TIMED_OUT, is_busy=True)
                if event == STREAM_END:
                    return
                if event is None:
                    cut_off = 'broke off in the middle of a reply.'
                    raise self._fail(cut_off if size else 'does not stream.')
                size += len(event)
                yield self._parse(event.encode(), 'choices')
        raise self._fail(f'wrote more than {MAX_STREAM:,} characters.')

    async def get(self, path: str, authorization: str = '') -> Any:
        """The JSON value at a path of the server, such as ``/models``."""
        async with self._send('GET', path, None, authorization) as answer:
            return self._parse(await read_answer(answer.aiter_raw()))

    async def _ask(
        self, body: Mapping[str, object], authorization: str, retries: int
    ) -> Completion:
        """Send one request until it succeeds or has been sent often enough."""
        for attempt in range(retries + 1):
            try:
                async with self._free:
                    return await self._try(body, authorization)
            except ServerError as error:
                if not error.is_busy or attempt == retries:
                    tried = f' It was asked {attempt + 1} times.' if attempt else ''
                    error.args = (f'{error}{tried}',)
                    raise
                wait = FIRST_WAIT * 2**attempt * random.uniform(1, 1.5)
                wait = min(max(wait, error.retry_after or 0.0), MAX_WAIT)
                _logger.warning(f'{error} Asking again in {wait:.1f} s.')
            await anyio.sleep(wait)
        raise AssertionError('unreachable')

    async def _try(self, body: Mapping[str, object], authorization: str) -> Completion:
        content = b''
        with anyio.move_on_after(self.server.timeout) as limit:
            async with self._send('POST', PATH, body, authorization) as answer:
                content = await read_answer(answer.aiter_raw())
        if limit.cancelled_caught:
            # The limit also applies to a server that keeps sending, but slowly.
            raise self._fail(self._slow, TIMED_OUT, is_busy=True)
        completion: Completion = self._parse(content, 'choices')
        return completion

    @asynccontextmanager
    async def _send(
        self, method: str, path: str, body: object, authorization: str
    ) -> AsyncIterator[httpx.Response]:
        """
        Send a request once.

        :return: the answer, whose status is right and whose body is not read yet.
        """
        key = f'Bearer {self.server.key}' if self.server.key else authorization
        # A client's key may have letters that are not ASCII.
        headers = {b'Authorization': key.encode('latin-1')} if key else {}
        url = self.server.base + path
        try:
            content = None if body is None else json.dumps(body).encode()
        except RecursionError:
            raise InputError('The request is nested too deeply.') from None
        try:
            async with AsyncExitStack() as stack:
                # The first client with room reuses its open connections.
                client = min(
                    self.clients, key=lambda each: self._running[each] // POOL_SIZE
                )
                self._running[client] += 1
                stack.callback(self._running.subtract, [client])
                with anyio.fail_after(self.server.timeout):
                    sent = client.stream(method, url, content=content, headers=headers)
                    answer = await stack.enter_async_context(sent)
                if answer.status_code != 200:
                    raise self._refuse(
                        answer, await read_answer(answer.aiter_raw(), MAX_EVENT)
                    )
                if answer.headers.get('Content-Encoding', 'identity') != 'identity':
                    raise self._fail('compresses its answer without being asked to.')
                yield answer
        except (httpx.TimeoutException, TimeoutError):
            raise self._fail(self._slow, TIMED_OUT, is_busy=True) from None
        except httpx.ConnectError as e:
            if 'SSL' in str(e):
                raise self._fail(f'has no valid certificate, or no https ({e}).') from e
            problem = f'does not answer ({e}). Is it running?'
            raise self._fail(problem, is_busy=True) from e
        except httpx.TransportError as e:
            problem = f'broke off ({type(e).__name__}).'
            raise self._fail(problem, is_busy=True) from e

    @property
    def _slow(self) -> str:
        return f'did not answer within {self.server.timeout:g} s.'

    def _fail(
        self, problem: str, status: int = NO_ANSWER, **details: Any
    ) -> ServerError:
        key, text = self.server.key, f'{self.server.url} {problem}'
        # A server may repeat the key.
        return ServerError(text.replace(key, '***') if key else text, status, **details)

    def _refuse(self, answer: httpx.Response, content: bytes) -> ServerError:
        status, retry_after = answer.status_code, answer.headers.get('Retry-After', '')
        if 300 <= status < 400:
            location = answer.headers.get('Location', '')[:200]
            return self._fail(
                f'redirects to {location!r}, which is not followed. If you trust that '
                'server, give its URL.'
            )
        answered = f'{status} {answer.reason_phrase}'
        return self._fail(
            f'answered {answered}: {shorten(content)} {HINTS.get(status, "")}'.strip(),
            status if 400 <= status < 600 else NO_ANSWER,
            is_busy=status in BUSY,
            content=content,
            retry_after=float(retry_after) if retry_after.isdecimal() else None,
        )

    def _parse(self, content: bytes, expected: str = '') -> Any:
        """The JSON value of an answer; NaN and infinity become null."""
        try:
            value, _ = read_json(content)
            if expected and not has_choices(value):
                raise KeyError(expected)
        except (ValueError, KeyError, TypeError, RecursionError) as e:
            raise self._fail(
                f'does not follow the chat-completions protocol ({e!r:.80}): '
                + shorten(content),
                content=content,
            ) from None
        return value


def parse_url(url: str) -> tuple[str, str]:
    """
    The protocol's base URL at a server, and the server's host.

    :raises ConfigError: when the URL cannot be used, or holds a secret, which would be
        written into option files and logs.

    >>> parse_url('http://localhost:8000/v1/chat/completions')
    ('http://localhost:8000/v1', 'localhost')
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = urlsplit(''), None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            "The server's URL must end with its path and hold no name, password or "
            'key: it is written into option files. Put a key into the environment.'
        )
    if parts.scheme not in ('http', 'https') or not host:
        raise ConfigError(
            f"The server's URL is {url!r}; it must be as http://localhost:8000/v1"
        )
    return url.strip().rstrip('/').removesuffix(PATH), host


def read_key(variable: str, option: str) -> str:
    """
    Read the key from an environment variable; empty if the default one is not set.

    :param option: the option that named the variable, for messages.
    :raises ConfigError: when another variable is named and not set.
    """
    if not re.fullmatch(r'[A-Z_][A-Z0-9_]*', variable):
        # The name may be the key itself, so it is not shown.
        raise ConfigError(
            f'{option} must name an environment variable, in capitals; the key itself '
            'belongs into that variable.'
        )
    key = os.environ.get(variable, '').strip()
    if not key and variable != KEY_VARIABLE:
        raise ConfigError(f'{variable} is not set. Run: export {variable}=...')
    return key


async def _gather(awaitables: Sequence[Awaitable[Completion]]) -> list[Completion]:
    """Gather the results in order; the first error cancels the others."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in awaitables]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    """The certificates to trust, read once."""
    return httpx.create_ssl_context(trust_env=False)
