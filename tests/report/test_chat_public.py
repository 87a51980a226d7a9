"""A chat that other machines can reach: whom it answers, and what it bears."""

import socket
import threading
import time
import tracemalloc
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.report.chat.connections import Limits
from parlai_q2.report.chat.server import PageServer
from tests.report.chats import Scripted, ask

ROOT = Path(__file__).parents[2]


@contextmanager
def serving_others(patience):
    """A server that other machines can reach, which is also called ``chat.example``."""
    limits = Limits(patience=patience)
    with PageServer('0.0.0.0', 0, ['Chat.example'], limits) as server:
        thread = threading.Thread(target=server.serve, args=[Scripted])
        thread.start()
        ask(server, 'GET', '/')
        yield server
        server.stop()
        thread.join(timeout=10)
        assert not thread.is_alive()


@pytest.fixture(scope='module')
def patient():
    with serving_others(30.0) as server:
        yield server


@pytest.fixture
def public(patient):
    """The patient server with a new conversation, and nobody connected to it."""
    patient.host.conversation = Scripted()
    wait_until_left(patient)
    return patient


@pytest.fixture
def impatient():
    with serving_others(1.0) as server:
        yield server


def wait_until_left(server):
    deadline = time.monotonic() + 10
    while server.limits.open.total():
        assert time.monotonic() < deadline
        time.sleep(0.01)


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
        # A proxy that speaks TLS may stand before a name, but not before this machine.
        ('chat.example', 'https://chat.example', 200),
        ('chat.example', 'ftp://chat.example', 403),
        ('localhost:8080', 'https://localhost:8080', 403),
    ],
)
def test_a_server_open_to_others_answers_to_its_own_names(public, host, origin, status):
    headers = {'Host': host, **({'Origin': origin} if origin else {})}
    body, _, answer = ask(public, 'GET', '/', headers=headers)
    assert body == status
    if host.startswith('attacker'):
        assert '--allow-host' in answer['error']


def test_others_are_told_no_path_of_this_machine(public):
    def fail(text, knowledge):
        raise ConfigError(f'Cannot read {ROOT}/secret.json')

    public.host.conversation.interact = fail
    status, _, body = ask(public, 'POST', '/interact', {'text': 'a'})
    assert (status, list(body)) == (200, ['error'])
    assert str(ROOT) not in body['error']
    assert 'secret' not in body['error']
    assert 'The reply failed (ConfigError)' in body['error']


def token_of(server):
    return f'Authorization: Bearer {server.access.token}\r\n'.encode()


@pytest.mark.parametrize('complete', [True, False])
def test_a_request_that_drips_is_ended_and_stops_nobody(impatient, complete):
    began, answer = time.monotonic(), b''
    sent = b'POST /interact HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400\r\n'
    sent += b'Content-Type: application/json\r\n' + token_of(impatient)
    if complete:
        sent += b'\r\n'
    with socket.create_connection(impatient.server_address[:2]) as slow:
        slow.sendall(sent)
        slow.settimeout(0.1)
        while time.monotonic() - began < 10:
            try:
                slow.sendall(b'a')
                answer = slow.recv(1000)
                break
            except TimeoutError:
                assert ask(impatient, 'GET', '/')[0] == 200
            except OSError:
                break
    assert time.monotonic() - began < 8
    assert (b'408' in answer) == complete


def test_a_client_that_never_takes_its_answer_is_let_go(impatient):
    impatient.host.conversation.state = lambda: {'turns': ['a' * 40_000_000]}
    with socket.create_connection(impatient.server_address[:2]) as deaf:
        head = b'GET /conversation HTTP/1.1\r\nHost: localhost\r\n'
        deaf.sendall(head + token_of(impatient) + b'\r\n')
        began = time.monotonic()
        time.sleep(0.2)
        assert impatient.limits.open.total() >= 1
        while impatient.limits.open.total() and time.monotonic() - began < 10:
            assert ask(impatient, 'GET', '/')[0] == 200
            time.sleep(0.1)
        assert impatient.limits.open.total() == 0


@pytest.mark.parametrize('sent', [b'', b'GET / HTTP/1.1\r\nHost: localhost\r\n'])
def test_slow_connections_make_room_for_others(public, sent):
    slow = [socket.create_connection(public.server_address[:2]) for _ in range(70)]
    try:
        for connection in slow:
            with suppress(OSError):
                connection.sendall(sent)
        began = time.monotonic()
        assert [ask(public, 'GET', '/')[0] for _ in range(20)] == [200] * 20
        assert time.monotonic() - began < 5
        assert public.limits.open.total() <= public.limits.from_one
    finally:
        for connection in slow:
            connection.close()


def test_connections_that_wait_for_answers_make_no_room(public):
    ended = threading.Event()
    public.host.conversation.state = lambda: ended.wait(30) and {'turns': []}
    head = b'GET /conversation HTTP/1.1\r\nHost: localhost\r\n' + token_of(public)
    connections = [
        socket.create_connection(public.server_address[:2]) for _ in range(16)
    ]
    try:
        for connection in connections:
            connection.sendall(head + b'\r\n')
        deadline = time.monotonic() + 10
        while public.limits.open.total() < 16 or public.limits.arriving:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        with socket.create_connection(public.server_address[:2]) as last:
            last.settimeout(10)
            assert b'503' in last.recv(1000)
    finally:
        ended.set()
        for connection in connections:
            connection.close()
    wait_until_left(public)
    assert ask(public, 'GET', '/')[0] == 200


def test_large_bodies_are_not_kept(public):
    head = b'POST /interact HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n'
    head += b'Content-Type: application/json\r\n' + token_of(public) + b'\r\n'
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
