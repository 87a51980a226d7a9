"""
Asks a server for replies by the chat-completions protocol, which vLLM, llama.cpp,
Ollama, TGI and others speak.

Only the host of the given URL is contacted: redirects are errors, and the environment's
proxies are not used. The key is sent to that host and shown nowhere.
"""

import http.client
import json
import math
import random
import ssl
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Optional
from urllib.parse import urlsplit

import parlai.utils.logging as logging

from parlai_q2.errors import ConfigError, ServerError

PATH = '/chat/completions'
# Statuses of a server that may answer later.
BUSY = (408, 429, 500, 502, 503, 504)
# Statuses of a server that does not take what it was asked.
REFUSED = (400, 422, 500, 501)
# Seconds before the second try, doubled before each further one; the longest wait.
FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
# A larger answer is not read to its end.
LARGEST_ANSWER = 16 * 2**20

# What somebody said: ``role`` (system, user or assistant) and ``content``.
Message = Mapping[str, str]


@dataclass(frozen=True)
class Reply:
    """
    One reply; the log probability of its tokens, in nats, and their number, where the
    server gives them.
    """

    text: str
    logprob: Optional[float] = None
    tokens: int = 0


class Unusable(Exception):
    """One try failed; whether another may succeed, and when."""

    def __init__(
        self, problem: str, again: bool, status: int = 0, after: Optional[float] = None
    ):
        super().__init__(problem)
        self.again, self.status, self.after = again, status, after


@dataclass
class ChatServer:
    """
    A server, and how it is asked.

    :param url: where the protocol starts, such as ``http://localhost:8000/v1``.
    :param settings: fields of every request: ``model``, ``temperature``, ``top_p``, ...
    :param key: sent as bearer token; empty for none.
    :param timeout: seconds that one try may take.
    :param retries: how often a request is sent again if the server is busy, fails or
        breaks off.
    :param concurrency: how many requests may run at once.
    :raises ConfigError: when the URL or the key cannot be used.
    """

    url: str
    settings: Mapping[str, Any]
    key: str = field(default='', repr=False)
    timeout: float = 60.0
    retries: int = 4
    concurrency: int = 4

    def __post_init__(self) -> None:
        self._scheme, self._host, self._port, self._path = parse_url(self.url)
        if not all('!' <= letter <= '~' for letter in self.key):
            raise ConfigError("The server's key has letters that no key can have.")
        here = self._host in ('localhost', '::1') or self._host.startswith('127.')
        if self.key and self._scheme == 'http' and not here:
            logging.warning(f'The key is sent to {self._host} unencrypted: no https.')
        self._free = threading.Semaphore(self.concurrency)
        # The most replies that one request was seen to give, once that is known.
        self._most: Optional[int] = None

    def replies(
        self, turns: Sequence[Sequence[Message]], numbers: Sequence[int]
    ) -> list[list[Reply]]:
        """
        Ask for replies to several turns at once.

        :param turns: B dialogues, each ending with the turn to reply to.
        :param numbers: how many replies to each, at least 0.
        :return: B lists of that many replies, in the server's order.
        :raises ServerError: when the server cannot be reached, or does not answer as
            the protocol says.
        """
        return self._at_once(self._replies_to, list(zip(turns, numbers, strict=True)))

    def _replies_to(self, messages: Sequence[Message], number: int) -> list[Reply]:
        """Ask once for all replies; as often as needed, if the server gives fewer."""
        found: list[Reply] = []
        if not number:
            return found
        if self._most is None or number <= self._most:
            found = self._first(messages, number)
            if len(found) < number:
                self._most = len(found)
        missing = number - len(found)
        if missing > 0 and self._most:
            whole, rest = divmod(missing, self._most)
            sizes = [self._most] * whole + [rest] * bool(rest)
            asked = [(messages, size) for size in sizes]
            found += [r for more in self._at_once(self._ask, asked) for r in more]
        if len(found) < number:
            raise ServerError(
                f'{self.url} was asked for {number} replies and gave {len(found)}.'
            )
        return found[:number]

    def _first(self, messages: Sequence[Message], number: int) -> list[Reply]:
        try:
            return self._ask(messages, number)
        except ServerError as error:
            if number == 1 or error.status not in REFUSED:
                raise
            # Perhaps it takes only requests for one; if not, this fails as well.
            found = self._ask(messages, 1)
            logging.warning(f'{self.url} gives one reply a request, not {number}.')
            return found

    def _at_once(self, function: Any, arguments: Sequence[tuple]) -> list:
        if len(arguments) < 2:
            return [function(*each) for each in arguments]
        with ThreadPoolExecutor(min(len(arguments), self.concurrency)) as threads:
            return list(threads.map(lambda each: function(*each), arguments))

    def _ask(self, messages: Sequence[Message], number: int) -> list[Reply]:
        """Send one request until it succeeds or has been sent often enough."""
        fields = {**self.settings, 'messages': list(messages), 'n': number}
        body = json.dumps(fields).encode()
        for attempt in range(self.retries + 1):
            try:
                with self._free:
                    return read_replies(self._try(body))
            except Unusable as failure:
                problem = f'{self.url} {self._hidden(str(failure))}'
                if not failure.again or attempt == self.retries:
                    tried = f' It was asked {attempt + 1} times.' if attempt else ''
                    raise ServerError(problem + tried, failure.status) from None
                wait = FIRST_WAIT * 2**attempt * random.uniform(1, 1.5)
                wait = min(max(wait, failure.after or 0.0), LONGEST_WAIT)
            logging.warning(f'{problem} Asking again in {wait:.1f} s.')
            time.sleep(wait)
        raise AssertionError('unreachable')

    def _try(self, body: bytes) -> bytes:
        """
        Send a request once.

        :raises Unusable: when the answer is not what was asked for.
        """
        headers = {'Content-Type': 'application/json', 'Accept': 'application/json'}
        if self.key:
            headers['Authorization'] = f'Bearer {self.key}'
        https = self._scheme == 'https'
        connect = http.client.HTTPSConnection if https else http.client.HTTPConnection
        connection = connect(self._host, self._port, timeout=self.timeout)
        until = time.monotonic() + self.timeout
        try:
            connection.connect()
            socket = connection.sock
            connection.request('POST', self._path, body, headers)
            answer = connection.getresponse()
            content = b''
            while len(content) <= LARGEST_ANSWER:
                # A server that sends a little now and then is slow, too.
                socket.settimeout(max(until - time.monotonic(), 0.001))
                part = answer.read1(65536)
                if not part:
                    break
                content += part
            if answer.length:
                raise http.client.IncompleteRead(content, answer.length)
        except TimeoutError:
            raise Unusable(
                f'did not answer within {self.timeout:g} s (--server-timeout).', True
            ) from None
        except ssl.SSLError as e:
            raise Unusable(f'cannot be trusted or speaks no https ({e}).', False) from e
        except OSError as e:
            raise Unusable(f'does not answer ({e}). Is it running?', True) from e
        except http.client.HTTPException as e:
            raise Unusable(f'broke off ({type(e).__name__}).', True) from e
        finally:
            connection.close()
        if answer.status != 200:
            raise _refusal(answer, content)
        return content

    def _hidden(self, text: str) -> str:
        """A text without the key, which a server may repeat."""
        return text.replace(self.key, '***') if self.key else text


def parse_url(url: str) -> tuple[str, str, Optional[int], str]:
    """
    The scheme, host, port and path of requests to a server.

    :raises ConfigError: when the URL cannot be used, or holds a secret, which would be
        written into option files and logs.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(''), None, None
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            '--server-url must end with its path and hold no name, password or key: '
            'it is written into option files. Put a key into the environment.'
        )
    if parts.scheme not in ('http', 'https') or not host:
        raise ConfigError(
            f'--server-url is {url!r}; it must be as http://localhost:8000/v1'
        )
    path = parts.path.rstrip('/')
    return parts.scheme, host, port, path if path.endswith(PATH) else path + PATH


def read_replies(content: bytes) -> list[Reply]:
    """
    Read the replies from the body of an answer.

    :raises Unusable: when it is not as the protocol says, or no reply has a text.
    """
    try:
        found = [_reply(choice) for choice in json.loads(content)['choices']]
    except (ValueError, KeyError, TypeError, RecursionError) as e:
        raise Unusable(
            f'does not answer as the chat-completions protocol says ({e!r}): '
            + shown(content),
            again=False,
        ) from None
    if not any(reply.text for reply in found):
        raise Unusable(
            'gave replies without text. If it thinks before it replies, allow more '
            'tokens: --server-max-tokens 1000',
            again=False,
        )
    return found


def _reply(choice: Any) -> Reply:
    text = choice['message']['content'] or ''
    given = (choice.get('logprobs') or {}).get('content') or []
    logprobs = [float(token['logprob']) for token in given]
    if not isinstance(text, str) or not all(map(math.isfinite, logprobs)):
        raise ValueError('the text or a log probability')
    if not logprobs:
        return Reply(text.strip())
    return Reply(text.strip(), sum(logprobs), len(logprobs))


def _refusal(answer: http.client.HTTPResponse, content: bytes) -> Unusable:
    status, said = answer.status, f'{answer.status} {answer.reason}'
    if 300 <= status < 400:
        where = answer.getheader('Location', '')
        return Unusable(
            f'redirects to {where[:200]!r}, which is not followed. If you trust that '
            'server, give its URL.',
            again=False,
            status=status,
        )
    hint = {
        401: 'Put its key into the environment (--server-key-variable names it).',
        403: 'Put its key into the environment (--server-key-variable names it).',
        404: 'Is the path right (it often ends with /v1), and --server-model?',
    }.get(status, '')
    after = answer.getheader('Retry-After', '')
    return Unusable(
        f'answered {said}: {shown(content)} {hint}'.strip(),
        status in BUSY,
        status,
        float(after) if after.isdecimal() else None,
    )


def shown(content: bytes) -> str:
    """The beginning of an answer, or the message in it, on one line."""
    text = content.decode('utf-8', 'replace')
    try:
        error = json.loads(text)['error']
        text = str(error['message'] if isinstance(error, dict) else error)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    return repr(' '.join(text.split())[:200])
