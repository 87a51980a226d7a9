"""What a chat's server accepts, from browsers and from anybody else."""

import http.client
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
from parlai_q2.report.chat.access import MAX_KNOWLEDGE, MAX_REQUEST, MAX_TEXT
from parlai_q2.report.chat.server import PageServer
from parlai_q2.report.entries import read_turn
from tests.conftest import ROOT
from tests.report.chats import JSON, Scripted, ask, reply_with_evidence, served

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
        'explains': True,
        'conversation': number,
    }
    assert ask(server, 'GET', '/conversation')[2] == state
    new = {**state, 'knowledge': '', 'turns': [], 'conversation': number + 1}
    assert ask(server, 'POST', '/reset', {})[2] == new
    # A page that still shows the old conversation.
    late = {'text': 'Who?', 'conversation': number}
    status, _, body = ask(server, 'POST', '/interact', late)
    assert status == 410
    assert 'send your message again' in body['error']
    assert server.host.conversation.turns == []


@contextmanager
def held(server):
    """Replies wait in this block; gives an event that tells that one has begun."""
    interact = server.host.conversation.interact
    begun, go_on = threading.Event(), threading.Event()

    def slow(text, knowledge):
        begun.set()
        assert go_on.wait(20)
        return interact(text, knowledge)

    server.host.conversation.interact = slow
    try:
        yield begun
    finally:
        go_on.set()


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


def test_a_message_during_a_reply_is_refused_and_all_else_waits(server):
    message = server, 'POST', '/interact', {'text': 'a'}
    with ThreadPoolExecutor(2) as pool, held(server) as begun:
        first = pool.submit(ask, *message)
        assert begun.wait(20)
        status, _, body = ask(*message)
        opened = pool.submit(ask, server, 'GET', '/conversation')
        ask(server, 'GET', '/')
        assert (first.done(), opened.done()) == (False, False)
    assert (first.result()[0], status) == (200, 409)
    assert 'Another reply' in body['error']
    assert len(opened.result()[2]['turns']) == 1
    assert ask(*message)[2]['number'] == 2


def test_a_tab_that_is_closed_loses_no_reply(server):
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=20)
    headers = {'Authorization': f'Bearer {server.access.token}', **JSON}
    with held(server) as begun:
        connection.request('POST', '/interact', '{"text": "a"}', headers)
        assert begun.wait(20)
        connection.close()
        ask(server, 'GET', '/')
    (turn,) = ask(server, 'GET', '/conversation')[2]['turns']
    assert turn['said'] == 'a'


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
        ({'text': 'a', 'conversation': '1'}, 'conversation must be a whole number.'),
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
    assert status == 500
    assert '\\x00' in body['error']
    assert body['error'].startswith('RuntimeError: the model is broken <')
    assert ask(server, 'POST', '/interact', {'text': 'again'})[0] == 200


def test_a_port_that_is_taken_is_told(server):
    host, port = server.server_address[:2]
    message = rf'port {port} of {host} .*--port {port + 1}'
    with pytest.raises(ConfigError, match=message):
        PageServer(host, port)


def test_who_waits_for_a_reply_hears_that_the_chat_has_ended():
    with (
        ThreadPoolExecutor(1) as pool,
        served(Scripted()) as server,
        held(server) as begun,
    ):
        reply = pool.submit(ask, server, 'POST', '/interact', {'text': 'a'})
        assert begun.wait(20)
        server.stop()
        status, _, body = reply.result(10)
    assert (status, body) == (503, {'error': 'The chat has ended.'})


ENDLESS = """
import hashlib
from parlai_q2.report.chat.server import PageServer
from tests.report.chats import Scripted

chat = Scripted()
def interact(*_):
    print('begun', flush=True)
    # Native code, of which Python cannot interrupt the call.
    hashlib.pbkdf2_hmac('sha256', b'', b'', 2_000_000_000)

chat.interact = interact
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
        assert process.stdout.readline() == 'begun\n'
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
