"""What a chat's server accepts, from browsers and from anybody else."""

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.report.chat.app import MAX_WAITING
from parlai_q2.report.chat.guards import MAX_KNOWLEDGE, MAX_REQUEST, MAX_TEXT
from parlai_q2.report.chat.server import PageServer
from parlai_q2.report.entries import read_turn
from tests.conftest import ROOT
from tests.report.chats import (
    JSON,
    Scripted,
    ask,
    events_of,
    reply_with_evidence,
    served,
)

CHUNKED = {'Transfer-Encoding': 'chunked'}


@pytest.fixture(scope='module')
def server():
    with served(Scripted()) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(server):
    server.host.conversation = Scripted()


def test_a_conversation(server):
    message = {'text': ' Who? ', 'knowledge': 'K'}
    status, _, body = ask(server, 'POST', '/interact', message)
    assert (status, body['number'], body['knowledge']) == (200, 1, 'K')
    assert body['turn'] == read_turn('Who?', reply_with_evidence())
    number = body['conversation']
    state = {
        'model': 'Scripted <b>',
        'knowledge': 'K',
        'turns': [body['turn']],
        'conversation': number,
        'pending': None,
    }
    assert ask(server, 'GET', '/conversation')[2] == state
    new = {**state, 'knowledge': '', 'turns': [], 'conversation': number + 1}
    assert ask(server, 'POST', '/reset', {})[2] == new


@contextmanager
def held(server):
    """Replies wait in this block; gives the event that lets them go on."""
    interact = server.host.conversation.interact
    go_on = threading.Event()

    def slow(text, knowledge):
        reply = interact(text, knowledge)
        assert go_on.wait(20)
        return reply

    server.host.conversation.interact = slow
    try:
        yield go_on
    finally:
        go_on.set()


def begin(server):
    """A connection on which a message was sent."""
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    headers = {'Authorization': f'Bearer {server.access.token}', **JSON}
    connection.request('POST', '/interact', json.dumps({'text': 'a'}), headers)
    return connection


def wait_until(condition):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_reply_tells_its_steps_as_it_reaches_them(server):
    with held(server) as go_on:
        answer = begin(server).getresponse()
        begun = b''
        while b'choosing' not in begun:
            begun += answer.read1()
        assert events_of(begun.decode().rpartition('\n\n')[0]) == [
            ('step', {'step': 'finding', 'candidates': 0}),
            ('step', {'step': 'judging', 'candidates': 2}),
            ('step', {'step': 'choosing', 'candidates': 2}),
        ]
        go_on.set()
        ((name, event),) = events_of(answer.read().decode())
    assert (name, event['number']) == ('reply', 1)


def test_nothing_of_the_conversation_is_told_without_the_token(server):
    ask(server, 'POST', '/interact', {'text': 'private'})
    for method, path in (('GET', '/conversation'), ('POST', '/reset')):
        for given in ({}, {'Authorization': 'Bearer '}, {'Authorization': 'Bearer é'}):
            headers = {**JSON, **given}
            status, _, body = ask(server, method, path, '{}', headers, token=False)
            assert status == 401
            assert 'printed' in body['error']
    assert len(server.host.conversation.turns) == 1
    assert server.access.token not in ask(server, 'GET', '/')[2]
    assert server.access.token not in repr(server.access)


def test_messages_that_would_wait_for_long_are_refused(server):
    with ThreadPoolExecutor(MAX_WAITING + 2) as pool, held(server):
        message = server, 'POST', '/interact', {'text': 'a'}
        futures = [pool.submit(ask, *message) for _ in range(MAX_WAITING + 2)]
        wait_until(lambda: sum(future.done() for future in futures) == 2)
        assert {f.result()[0] for f in futures if f.done()} == {429}


def test_a_tab_that_is_closed_loses_no_reply(server):
    with held(server):
        connection = begin(server)
        wait_until(lambda: ask(server, 'GET', '/conversation')[2]['pending'] == 'a')
        # The answer would keep the connection open beyond close().
        connection.sock.shutdown(2)
        connection.close()
    wait_until(lambda: ask(server, 'GET', '/conversation')[2]['turns'])


def test_a_page_opened_during_a_reply_does_not_wait_for_it(server):
    ask(server, 'POST', '/interact', {'text': 'one'})
    with ThreadPoolExecutor(1) as pool, held(server):
        reply = pool.submit(ask, server, 'POST', '/interact', {'text': 'two'})
        wait_until(lambda: ask(server, 'GET', '/conversation')[2]['pending'] == 'two')
        turns = ask(server, 'GET', '/conversation')[2]['turns']
        assert [turn['said'] for turn in turns] == ['one']
        assert not reply.done()
    state = ask(server, 'GET', '/conversation')[2]
    assert state['pending'] is None
    assert [turn['said'] for turn in state['turns']] == ['one', 'two']


def test_the_page_comes_with_its_policies(server):
    status, headers, page = ask(server, 'GET', '/?from=somewhere')
    assert status == 200
    assert headers['Content-Security-Policy'] == "frame-ancestors 'none'"
    assert headers['Cache-Control'] == 'no-store'
    assert headers['X-Content-Type-Options'] == 'nosniff'
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page
    assert '<h1 dir="auto">Chat with Scripted &lt;b&gt;</h1>' in page
    for loaded in ('src=', 'url(', '@import', 'https:', 'http:'):
        assert loaded not in page


@pytest.mark.parametrize(
    'body, problem',
    [
        ('', 'Send a JSON object'),
        ('hello', 'Send a JSON object'),
        ('[1]', 'Send a JSON object'),
        ('[' * 100_000, 'Send a JSON object'),
        (b'{"text": "\xff"}', 'Send a JSON object'),
        ({}, 'The message is empty.'),
        ({'text': ' \n'}, 'The message is empty.'),
        ({'text': 3}, 'text must be a string.'),
        ({'text': 'a', 'knowledge': ['b']}, 'knowledge must be a string.'),
        ({'text': 'a' * (MAX_TEXT + 1)}, 'has 8,001 characters; at most 8,000 are'),
        ({'text': 'a', 'knowledge': 'b' * (MAX_KNOWLEDGE + 1)}, 'at most 20,000'),
    ],
)
def test_what_is_no_message_is_refused(server, body, problem):
    status, _, found = ask(server, 'POST', '/interact', body)
    assert status == 400
    assert problem in found['error']
    assert server.host.conversation.turns == []


def test_a_request_that_is_too_large_hears_of_it(server):
    status, _, body = ask(server, 'POST', '/interact', 'a' * (MAX_REQUEST + 1))
    assert status == 413
    assert 'at most 500,000 bytes' in body['error']


@pytest.mark.parametrize(
    'method, path, headers, status',
    [
        ('GET', '/../etc/passwd', {}, 404),
        ('GET', '/interact', {}, 405),
        ('POST', '/', JSON, 405),
        # What the page of another site can send without asking.
        ('POST', '/interact', {'Content-Type': 'text/plain'}, 415),
        ('POST', '/reset', {'Content-Type': 'text/plain'}, 415),
        ('POST', '/interact', {}, 415),
        # And the question it must ask otherwise.
        ('OPTIONS', '/interact', {'Origin': 'http://elsewhere.example'}, 403),
        # A name of another site that was pointed here.
        ('GET', '/conversation', {'Host': 'elsewhere.example'}, 403),
        ('GET', '/', {'Host': '[::1'}, 403),
        ('GET', '/', {'Host': 'localhost:9000'}, 200),
        # A page of another site, whatever it sends.
        ('POST', '/reset', {**JSON, 'Origin': 'http://elsewhere.example'}, 403),
        ('GET', '/conversation', {'Origin': 'null'}, 403),
        ('GET', '/', {'Host': 'localhost:9', 'Origin': 'http://localhost:9'}, 200),
        ('POST', '/interact', {**JSON, 'Content-Length': 'x'}, 400),
        ('POST', '/interact', {**JSON, 'Content-Length': '-1'}, 400),
        ('POST', '/interact', {**JSON, **CHUNKED}, 411),
        ('POST', '/interact', {**JSON, **CHUNKED, 'Content-Length': '2'}, 411),
    ],
)
def test_other_requests(server, method, path, headers, status):
    server.host.conversation.turns = ['kept']
    assert ask(server, method, path, headers=headers)[0] == status
    assert server.host.conversation.turns == ['kept']


def test_lone_surrogates_reach_no_model(server):
    _, _, body = ask(server, 'POST', '/interact', '{"text": "/a \\ud800 \\u0000 b"}')
    assert body['turn']['text'] == 'You said: /a \ufffd \\x00 b'


def test_a_failure_is_an_answer_and_the_next_message_is_taken(server):
    status, _, body = ask(server, 'POST', '/interact', {'text': 'fail'})
    assert status == 200
    assert '\\x00' in body['error']
    assert body['error'].startswith('RuntimeError: the model is broken <')
    assert ask(server, 'POST', '/interact', {'text': 'again'})[0] == 200


def test_requests_do_not_interleave(server):
    under_way, most = [], []

    def slow(text, knowledge):
        under_way.append(text)
        most.append(len(under_way))
        time.sleep(0.02)
        under_way.remove(text)
        return {}

    server.host.conversation.interact = slow
    with ThreadPoolExecutor(8) as pool:
        for n in range(8):
            pool.submit(ask, server, 'POST', '/interact', {'text': str(n)})
    assert most == [1] * 8


def test_a_port_that_is_taken_is_told(server):
    host, port = server.server_address[:2]
    message = rf'port {port} of {host} .*--port {port + 1}'
    with pytest.raises(ConfigError, match=message):
        PageServer(host, port)


def test_who_waits_for_a_reply_hears_that_the_chat_has_ended():
    with served(Scripted()) as server, ThreadPoolExecutor(1) as pool, held(server):
        reply = pool.submit(ask, server, 'POST', '/interact', {'text': 'a'})
        wait_until(lambda: ask(server, 'GET', '/conversation')[2]['pending'] == 'a')
        server.stop()
        assert 'has ended' in reply.result(10)[2]['error']


ENDLESS = """
import hashlib
from parlai_q2.report.chat.server import PageServer
from tests.report.chats import Scripted

chat = Scripted()
# Native code, of which Python cannot interrupt the call.
chat.interact = lambda *_: hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)
with PageServer('127.0.0.1', 0) as server:
    print(server.url, flush=True)
    server.serve(lambda: chat)
"""


def test_ctrl_c_in_a_reply_ends_the_process_within_two_seconds():
    process = subprocess.Popen(
        [sys.executable, '-c', ENDLESS],
        cwd=ROOT,
        env={**os.environ, 'PYTHONPATH': str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url, _, token = process.stdout.readline().strip().partition('#')
        address = url.removeprefix('http://').strip('/')
        connection = http.client.HTTPConnection(address, timeout=20)
        headers = {'Authorization': f'Bearer {token}', **JSON}
        connection.request('GET', '/conversation', headers=headers)
        assert connection.getresponse().read()
        connection.request('POST', '/interact', '{"text": "a"}', headers)
        assert connection.getresponse().status == 200
        time.sleep(0.3)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert time.monotonic() - began < 2
    assert process.returncode == 130, errors
    assert 'middle of a reply' in errors


def test_the_evidence_of_a_turn_is_asked_for_after_its_reply(server):
    _, _, body = ask(server, 'POST', '/interact', {'text': 'explain later'})
    place = {'number': 1, 'conversation': body['conversation']}
    (bare,) = body['turn']['candidates']
    assert (bare['claims'], bare['explained']) == ([], False)
    status, _, later = ask(server, 'POST', '/evidence', place)
    (row,) = later['turn']['candidates']
    assert (status, row['explained']) == (200, True)
    assert row['claims'][0]['status'] == 'unsupported'
    assert row['response'][1] == ['1985', 'unsupported', [0]]
    # Another page that opens now has it as well.
    (turn,) = ask(server, 'GET', '/conversation')[2]['turns']
    assert turn['candidates'] == [row]


@pytest.mark.parametrize(
    'body, status, says',
    [
        ({'number': 1}, 400, 'must be whole numbers'),
        ({'number': '1', 'conversation': 0}, 400, 'must be whole numbers'),
        ([1], 400, 'Send a JSON object with number'),
        ({'number': 7, 'conversation': 0}, 404, 'no turn 7'),
    ],
)
def test_a_turn_that_is_not_there_has_no_evidence(server, body, status, says):
    found = ask(server, 'POST', '/evidence', body)
    assert found[0] == status
    assert says in found[2]['error']
