"""How a server is asked, and what happens if it does not answer as it should."""

import asyncio
import json
import socket
import threading
import time
from contextlib import suppress

import anyio
import pytest

from parlai_q2.errors import ConfigError, ServerError
from parlai_q2.generate import server as module
from parlai_q2.generate.chat_completions import ServerReply
from parlai_q2.generate.server import ChatServer
from tests.agents.protocol_server import Broken, choice, serving

HELLO = [{'role': 'user', 'content': 'Hello?'}]
KEY = 'sk-Secret-7'


def numbered(fields):
    return [f'reply {n}' for n in range(fields['n'])]


def client(url, **settings):
    fields = {'model': 'm', **settings.pop('settings', {})}
    return ChatServer(url, fields, **{'timeout': 5.0, 'retries': 2, **settings})


def asked(server, number=1):
    return [r.text for r in server.replies([HELLO], [number])[0]]


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """How long was waited between tries; no time passes."""
    replies: list = []

    async def sleep(seconds):
        replies.append(seconds)

    monkeypatch.setattr(module.anyio, 'sleep', sleep)
    return replies


def test_all_replies_to_a_turn_are_asked_for_in_one_request():
    with serving(numbered) as served:
        settings = {'settings': {'temperature': 0.5}}
        assert asked(client(served.url, **settings), 3) == [f'reply {n}' for n in '012']
    assert served.requests == [
        {'model': 'm', 'temperature': 0.5, 'messages': HELLO, 'n': 3}
    ]
    assert served.paths == ['/v1/chat/completions']


def test_log_probabilities_are_added_up():
    with serving(lambda _: [choice(' yes\n', [-0.5, -1.5]), choice('no')]) as served:
        [replies] = client(served.url).replies([HELLO], [2])
    assert replies == [ServerReply('yes', -2.0, 2), ServerReply('no')]


def test_a_reply_is_what_people_see():
    thought = {**choice('<think>Is it?</think>It is'), 'finish_reason': 'length'}
    parts = choice([{'type': 'text', 'text': 'It'}, {'type': 'text', 'text': ' is.'}])
    with serving(lambda _: [thought, parts]) as served:
        assert asked(client(served.url), 2) == ['It is …', 'It is.']


def test_a_server_that_gives_fewer_is_asked_again_and_remembered():
    with serving(numbered, most=2) as served:
        server = client(served.url)
        assert len(asked(server, 5)) == 5
        assert [r['n'] for r in served.requests[:1]] == [5]
        assert sorted(r['n'] for r in served.requests[1:]) == [1, 2]
        assert len(asked(server, 4)) == 4
    assert [r['n'] for r in served.requests[3:]] == [2, 2]


def test_a_server_that_gives_ever_fewer_gives_what_it_has():
    with serving(lambda fields: ['reply'] * (fields['n'] // 3)) as served:
        assert len(asked(client(served.url), 9)) == 5
    assert [r['n'] for r in served.requests] == [9, 3, 3]


def test_remembers_replies_per_request_for_each_model():
    def model(fields):
        return ['reply'] * (1 if fields['model'] == 'small' else fields['n'])

    with serving(model) as served:
        server = client(served.url)
        for name in ('small', 'small', 'large'):
            server.settings = {'model': name}
            assert asked(server, 2) == ['reply'] * 2
    assert [r['n'] for r in served.requests] == [2, 1, 1, 1, 2]


def test_a_server_that_refuses_several_at_once_is_asked_for_one_at_a_time():
    refusal = Broken(400, b'{"error": {"message": "n must be 1"}}')
    with serving(numbered, refusal) as served:
        assert asked(client(served.url), 3) == ['reply 0'] * 3
    assert [r['n'] for r in served.requests] == [3, 1, 1, 1]


def test_a_server_that_fails_is_asked_once_more_for_a_single_reply():
    failures = [Broken(500)] * 9
    with (
        serving(numbered, *failures) as served,
        pytest.raises(ServerError, match='500'),
    ):
        asked(client(served.url, retries=2), 4)
    assert [request['n'] for request in served.requests] == [4, 4, 4, 1]


def test_limits_connections_of_each_client(monkeypatch):
    monkeypatch.setattr(module, 'POOL_SIZE', 2)
    body = json.dumps({'choices': [choice('late')]}).encode()
    counts = []

    async def ask_all(server):
        async with server.connect() as connection:
            tasks = [asyncio.ensure_future(connection.complete({}, 1)) for _ in '12345']
            while served.at_once < 5:
                await asyncio.sleep(0.01)
            counts.extend(connection._running[each] for each in connection.clients)
            await asyncio.gather(*tasks)

    with serving(numbered, *[Broken(body=body, wait=1.0)] * 5) as served:
        asyncio.run(ask_all(client(served.url, concurrency=5)))
    assert counts == [2, 2, 1]


def test_turns_are_asked_for_at_once_up_to_the_limit():
    with serving(numbered, *[Broken(429, wait=0.2)] * 4) as served:
        server = client(served.url, concurrency=2)
        found = server.replies([HELLO] * 6, [1, 2, 1, 2, 1, 2])
    assert [len(replies) for replies in found] == [1, 2, 1, 2, 1, 2]
    assert served.most_at_once == 2


@pytest.mark.parametrize('status', [408, 429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_after_longer_and_longer_waits(status, waits):
    with serving(numbered, Broken(status), Broken(status)) as served:
        assert asked(client(served.url)) == ['reply 0']
    assert len(served.requests) == 3
    first, second = waits
    assert 0.5 <= first <= 0.75
    assert 1.0 <= second <= 1.5


def test_a_server_says_how_long_to_wait(waits):
    again = {'Retry-After': '7'}
    never = {'Retry-After': '86400'}
    with serving(numbered, Broken(429, headers=again), Broken(429, headers=never)) as s:
        asked(client(s.url))
    assert waits == [7.0, 60.0]


def test_a_server_that_stays_busy_is_an_error():
    with (
        serving(numbered, *[Broken(503, b'loading')] * 3) as served,
        pytest.raises(ServerError, match=r"503 .*'loading'.* It was asked 3 times"),
    ):
        asked(client(served.url))
    assert len(served.requests) == 3


@pytest.mark.parametrize('cut', [0, 20])
def test_a_connection_that_breaks_is_made_again(cut):
    body = json.dumps({'choices': [choice('whole')]}).encode()
    with serving(numbered, Broken(body=body, cut=cut)) as served:
        assert asked(client(served.url)) == ['reply 0']
    assert len(served.requests) == 2


def test_a_server_whose_headers_drip_is_given_up():
    def answer():
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            for letter in 'HTTP/1.1 200 OK\r\nX: ' + 'x' * 99:
                connection.sendall(letter.encode())
                time.sleep(0.05)

    async def stream():
        async with server.connect() as connection:
            with pytest.raises(ServerError, match=r'within 0.3 s'):
                await anext(connection.stream({}))

    with socket.create_server(('127.0.0.1', 0)) as listener:
        thread = threading.Thread(target=answer)
        thread.start()
        server = client(f'http://127.0.0.1:{listener.getsockname()[1]}/v1', timeout=0.3)
        asyncio.run(stream())
        thread.join()


def test_a_server_that_is_not_there_is_an_error(waits):
    with socket.socket() as port_holder:
        port_holder.bind(('127.0.0.1', 0))
        port = port_holder.getsockname()[1]
        with pytest.raises(ServerError, match=f'127.0.0.1:{port}/v1 .*Is it running?'):
            asked(client(f'http://127.0.0.1:{port}/v1'))
    assert len(waits) == 2


@pytest.mark.parametrize(
    'body',
    [
        b'<html>',
        b'[]',
        b'{"choices": 3}',
        b'{"choices": [{"text": "old protocol"}]}',
        b'{"choices": [{"message": "a"}]}',
        b'[' * 100_000,
    ],
)
def test_an_answer_that_is_none_is_an_error(body):
    with (
        serving(numbered, Broken(body=body)) as served,
        pytest.raises(ServerError, match='not follow the chat-completions protocol'),
    ):
        asked(client(served.url))
    assert len(served.requests) == 1


@pytest.mark.parametrize(
    'choices, message',
    [
        ([], 'asked for 1 replies and gave 0'),
        ([choice('')], '--server-max-tokens'),
        ([choice(None)], '--server-max-tokens'),
        ([choice('<think>Perhaps')], '--server-max-tokens'),
    ],
)
def test_replies_without_text_are_an_error(choices, message):
    with (
        serving(lambda _: choices) as served,
        pytest.raises(ServerError, match=message),
    ):
        asked(client(served.url))


def test_a_redirect_is_not_followed():
    with serving(numbered) as other:
        away = Broken(307, headers={'Location': other.url})
        with (
            serving(numbered, away) as served,
            pytest.raises(ServerError, match=f"redirects to '{other.url}'"),
        ):
            asked(client(served.url, key=KEY))
    assert other.requests == []


def test_only_the_named_host_is_contacted(monkeypatch):
    contacted = []
    connect = anyio.connect_tcp

    async def noted(remote_host, remote_port, **named):
        contacted.append((remote_host, remote_port))
        return await connect(remote_host, remote_port, **named)

    monkeypatch.setattr(anyio, 'connect_tcp', noted)
    with serving(numbered) as proxy, serving(numbered) as served:
        for name in ('http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'):
            monkeypatch.setenv(name, proxy.url)
        asked(client(served.url), 2)
    port = int(served.url.split(':')[2].split('/')[0])
    assert contacted == [('127.0.0.1', port)]
    assert proxy.requests == []
    assert len(served.requests) == 1


def test_the_key_is_sent_and_shown_nowhere(monkeypatch):
    logged: list = []
    monkeypatch.setattr(module._logger, 'warning', logged.append)
    body = f'{{"error": {{"message": "wrong key {KEY}"}}}}'.encode()
    with serving(numbered, Broken(429, body), Broken(401, body)) as served:
        server = client(served.url, key=KEY)
        with pytest.raises(ServerError, match=r'wrong key \*.*--server-key-var') as e:
            asked(server)
    assert served.headers[0]['Authorization'] == f'Bearer {KEY}'
    assert "'wrong key ***' Asking again" in logged[0]
    assert KEY not in str(e.value) + repr(server) + logged[0]


def test_a_key_that_would_travel_unencrypted_is_told_of(monkeypatch):
    logged: list = []
    monkeypatch.setattr(module._logger, 'warning', logged.append)
    client('https://example.invalid/v1', key=KEY)
    client('http://127.0.0.1/v1', key=KEY)
    assert logged == []
    client('http://example.invalid/v1', key=KEY)
    assert logged == ['The key is sent to example.invalid unencrypted: no https.']


@pytest.mark.parametrize(
    'wrong, secret',
    [
        ({'key': 'two words'}, 'two words'),
        ({'key': 'line\nend'}, 'line\nend'),
        ({'key': 'schlüssel'}, 'schlüssel'),
        ({'url': 'http://me:pass-word@host/v1'}, 'pass-word'),
        ({'url': 'http://host/v1?key=pass-word'}, 'pass-word'),
        ({'url': 'http://host/v1#pass-word'}, 'pass-word'),
    ],
)
def test_a_secret_that_cannot_be_used_is_not_repeated(wrong, secret):
    with pytest.raises(ConfigError) as e:
        client(**{'url': 'http://127.0.0.1/v1', **wrong})
    assert secret not in str(e.value)


@pytest.mark.parametrize(
    'url', ['localhost:8000', 'ftp://h/v1', 'http:///v1', 'http://[', '']
)
def test_rejects_invalid_server_urls(url):
    with pytest.raises(ConfigError, match='http://localhost:8000/v1'):
        client(url)


@pytest.mark.parametrize('end', ['/v1', '/v1/', '/v1/chat/completions'])
def test_a_url_may_end_as_people_write_it(end):
    with serving(numbered) as served:
        asked(client(served.url.removesuffix('/v1') + end))
    assert served.paths == ['/v1/chat/completions']
