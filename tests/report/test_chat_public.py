"""A chat that other machines can reach: whom it answers, and what it bears."""

import socket
import time
import tracemalloc

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.report.chat import app
from parlai_q2.report.chat.server import MAX_CONNECTIONS
from tests.conftest import ROOT
from tests.report.chats import Scripted, ask, served


@pytest.fixture(scope='module')
def serving():
    """A server that other machines can reach, which is also called ``chat.example``."""
    with served(Scripted(), '0.0.0.0', ['Chat.example']) as server:
        yield server


@pytest.fixture
def public(serving):
    """The server with a new conversation."""
    serving.host.conversation = Scripted()
    return serving


@pytest.mark.parametrize(
    'host, origin, status',
    [
        ('127.0.0.1:8080', None, 200),
        ('[2001:db8::1]:8080', None, 200),
        ('192.0.2.7', 'http://192.0.2.7', 200),
        (socket.gethostname(), None, 200),
        ('chat.example:80', 'http://chat.example:80', 200),
        # Strangers' names may have been pointed here.
        ('attacker.example', None, 403),
        ('attacker.example', 'http://attacker.example', 403),
        ('chat.example.attacker.example', None, 403),
        ('', None, 403),
        ('192.0.2.7', 'http://attacker.example', 403),
        ('192.0.2.7', 'http://[x', 403),
        # A proxy that speaks TLS may stand before a name, but not before this machine.
        ('chat.example', 'https://chat.example', 200),
        ('chat.example', 'ftp://chat.example', 403),
        ('localhost:8080', 'https://localhost:8080', 403),
    ],
)
def test_a_server_open_to_others_answers_to_its_own_names(public, host, origin, status):
    headers = {'Host': host, **({'Origin': origin} if origin else {})}
    found, _, answer = ask(public, 'GET', '/', headers=headers)
    assert found == status
    if host.startswith('attacker'):
        assert '--allow-host' in answer['error']


def test_others_are_told_no_path_of_this_machine(public):
    def fail(text, knowledge):
        raise ConfigError(f'Cannot read {ROOT}/secret.json')

    public.host.conversation.interact = fail
    status, _, body = ask(public, 'POST', '/interact', {'text': 'a'})
    assert (status, list(body)) == (500, ['error'])
    assert str(ROOT) not in body['error']
    assert 'secret' not in body['error']
    assert 'The reply failed (ConfigError)' in body['error']


def begin_message(server, length):
    """The beginning of a request, up to its body of so many bytes."""
    return (
        'POST /interact HTTP/1.1\r\nHost: localhost\r\n'
        f'Content-Length: {length}\r\nContent-Type: application/json\r\n'
        f'Authorization: Bearer {server.access.token}\r\n\r\n'
    ).encode()


def test_a_body_that_drips_is_ended_and_stops_nobody(public, monkeypatch):
    monkeypatch.setattr(app, 'PATIENCE', 1.0)
    began, answer = time.monotonic(), b''
    with socket.create_connection(public.server_address[:2]) as slow:
        slow.sendall(begin_message(public, 400))
        slow.settimeout(0.1)
        while time.monotonic() - began < 10:
            try:
                slow.sendall(b'a')
                received = slow.recv(1000)
            except TimeoutError:
                assert ask(public, 'GET', '/')[0] == 200
                continue
            except OSError:
                break
            answer += received
            if not received:
                break
    assert time.monotonic() - began < 8
    assert b' 408 ' in answer


def test_with_too_many_connections_the_server_is_busy(public):
    connections = [
        socket.create_connection(public.server_address[:2])
        for _ in range(MAX_CONNECTIONS)
    ]
    assert ask(public, 'GET', '/')[0] == 503
    for connection in connections:
        connection.close()
    deadline = time.monotonic() + 10
    while ask(public, 'GET', '/')[0] != 200:
        assert time.monotonic() < deadline


def test_large_bodies_are_not_kept(public):
    head = begin_message(public, 16_000_000)
    tracemalloc.start()
    try:
        connections = [
            socket.create_connection(public.server_address[:2]) for _ in range(4)
        ]
        for connection in connections:
            connection.sendall(head + b'a' * 4_000_000)
            assert b' 413 ' in connection.recv(1000)
        assert ask(public, 'GET', '/')[0] == 200
        # Four times 4 MB have been read by now, or are still on their way.
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
        for connection in connections:
            connection.close()
    finally:
        tracemalloc.stop()


def test_the_address_that_is_told_is_one_to_open(public):
    assert public.url.startswith(f'http://{socket.gethostname().lower()}:')
