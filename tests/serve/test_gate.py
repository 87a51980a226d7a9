"""Who is let in, and what is answered to what cannot be answered."""

import json
import logging
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from parlai_q2.rerank import Reranker, Rule
from parlai_q2.serve import make_app
from parlai_q2.serve.gate import answer_error
from tests.agents.protocol_server import Broken, choice, stream_of
from tests.serve.running import BEES, RIGHT, WRONG, proxied, said, serving_app, text_of
from tests.serve.test_chat import replying

CHAT = '/v1/chat/completions'
JSON = {'Content-Type': 'application/json'}
# What a server answers that works.
WHOLE = json.dumps({'choices': [choice(RIGHT)]}).encode()


@pytest.fixture(scope='module')
def client():
    with proxied(
        replying(RIGHT), candidates=1, max_body=10_000, max_knowledge=5000
    ) as (_, client):
        yield client


@pytest.mark.parametrize(
    'path, body, status, message',
    [
        (CHAT, b'', 400, 'JSON object'),
        (CHAT, b'[]', 400, 'JSON object'),
        (CHAT, b'[' * 9000, 400, 'JSON object'),
        (CHAT, b'{"a": "\xff"}', 400, 'JSON object'),
        (CHAT, b'{"temperature": NaN}', 400, 'JSON object'),
        (CHAT, b'{"temperature": 1e400}', 400, 'JSON object'),
        (CHAT, b'{"n": ' + b'9' * 5000 + b'}', 400, 'JSON object'),
        (CHAT, b'x' * 10_001, 413, '10,000 bytes'),
        (CHAT, said('Bees. ' * 900), 413, 'has 5,399 characters, and at most 5,000'),
        (CHAT, {**said(BEES), 'documents': ['x' * 2501] * 2}, 413, '--knowledge-index'),
        (
            CHAT,
            {**said(), 'documents': {'title': 'x' * 5001, 'text': 'a'}},
            413,
            '5,002',
        ),
        (
            '/v1/rerank',
            {'query': 'x', 'documents': ['a'], 'history': {'a': 1}},
            400,
            'list',
        ),
        ('/v1/rerank', {'query': 'x' * 5001, 'documents': ['a']}, 413, '5,001'),
        ('/v1/score', {'knowledge': 'x' * 5001, 'response': 'a'}, 413, '5,001'),
        (CHAT, {}, 400, '"messages" must be a list'),
        (CHAT, {'messages': [7]}, 400, 'must be an object'),
        (CHAT, {**said(BEES), 'n': 0}, 400, '"n" must be'),
        (CHAT, {**said(BEES), 'n': True}, 400, '"n" must be'),
        (CHAT, {**said(BEES), 'knowledge': 7}, 400, '"knowledge" must be'),
        (CHAT, {**said(BEES), 'documents': [{'a': 7}]}, 400, '"documents" must be'),
        (CHAT, {'messages': [{'role': 'user'}]}, 400, 'must have "content"'),
        ('/v1/rerank', {'query': 7, 'documents': ['a']}, 400, '"query" must be'),
        ('/v1/rerank', {'query': 'a', 'documents': [7]}, 400, '"documents" must be'),
        ('/v1/rerank', {'query': 'a', 'documents': []}, 400, 'a list of 1 to 1000'),
        ('/v1/rerank', {'knowledge': 'a', 'candidates': ['b']}, 400, '"query" must be'),
        ('/v1/rerank', {'query': 'a', 'documents': ['b'], 'top_n': 0}, 400, '"top_n"'),
        ('/v1/score', {'pairs': [{'knowledge': 'a'}]}, 400, "Pair 0 has no 'response'"),
        ('/v1/score', {'pairs': 7}, 400, '"pairs" must be a list'),
        ('/v1/nothing', {}, 404, 'See /docs'),
    ],
)
def test_what_cannot_be_answered_is_refused(client, path, body, status, message):
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = client.post(path, content=content, headers=JSON)
    assert answer.status_code == status
    assert message in answer.json()['error']['message']


def test_only_json_is_taken(client):
    assert client.post(CHAT, content='{}').status_code == 415
    assert client.get(CHAT).status_code == 405


def test_other_sites_cannot_take_part(client):
    asked = {'Origin': 'http://elsewhere.example'}
    answer = client.options(CHAT, headers=asked)
    assert 'Access-Control-Allow-Origin' not in answer.headers


def test_replies_are_reranked_and_scored(client):
    body = {'query': BEES, 'documents': [WRONG, {'text': RIGHT}], 'top_n': 1}
    for path in ('/rerank', '/v1/rerank', '/v2/rerank'):
        [best] = client.post(path, json=body).json()['results']
    assert best['index'] == 1
    assert best['relevance_score'] == 1.0
    assert best['document'] == {'text': RIGHT}
    assert best['label'] == 'consistent'
    pair = {'knowledge': BEES, 'response': WRONG}
    [scored] = client.post('/v1/score', json=pair).json()['data']
    assert scored['label'] == 'inconsistent'
    assert scored['index'] == 0
    pairs = [pair, {'knowledge': '', 'response': RIGHT}, {**pair, 'response': RIGHT}]
    data = client.post('/v1/score', json={'pairs': pairs}).json()['data']
    labels = [scored['label'] for scored in data]
    assert labels == ['inconsistent', 'not_verifiable', 'consistent']


def test_replies_are_scored_without_thoughts(client):
    response = f'<think>{WRONG}</think>{RIGHT}'
    pair = {'knowledge': BEES, 'response': response}
    [scored] = client.post('/v1/score', json=pair).json()['data']
    assert (scored['label'], scored['score']) == ('consistent', 1.0)
    body = {'query': BEES, 'documents': [WRONG, {'text': response}]}
    best, _ = client.post('/v1/rerank', json=body).json()['results']
    assert best['document'] == {'text': RIGHT}


def test_results_are_in_the_order_of_their_scores():
    # By this rule, the first reply above the threshold is chosen.
    reranker = Reranker('precision', Rule('threshold'), explain=None, relevance=None)
    app = make_app('http://localhost:1/v1', reranker)
    body = {'query': BEES, 'documents': ['Bees have six eyes.', WRONG, RIGHT]}
    with (
        serving_app(app) as base,
        httpx.Client(base_url=base, timeout=20, trust_env=False) as client,
    ):
        results = client.post('/v1/rerank', json=body).json()['results']
    assert [result['index'] for result in results] == [2, 0, 1]
    scores = [result['relevance_score'] for result in results]
    assert scores == sorted(scores, reverse=True)


def test_pages_and_models(client):
    assert client.get('/health').json()['status'] == 'ok'
    assert client.get('/v1/models').json()['data'] == [{'id': 'm'}]
    assert client.get('/openapi.json').json()['openapi'] == '3.1.0'
    page = client.get('/docs').text
    assert 'POST /v1/rerank' in page
    assert 'http:' not in page
    counted = client.get('/metrics').text
    assert 'parlai_q2_requests_total{path="/health",status="200"}' in counted


def test_the_key_is_asked_for_and_not_passed_on():
    settings = {'candidates': 1, 'api_key': 'sk-Secret-7'}
    with proxied(replying(RIGHT), **settings) as (served, client):
        for key in ('', 'Bearer', 'Bearer sk-Secret-8', 'sk-Secret-7', 'Bearer é'):
            headers = {'Authorization': key.encode()}
            answer = client.post(CHAT, json=said(BEES), headers=headers)
            assert answer.status_code == 401
        assert client.get('/metrics').status_code == 401
        assert client.get('/health').status_code == 200
        headers = {'Authorization': 'Bearer sk-Secret-7'}
        assert client.post(CHAT, json=said(BEES), headers=headers).is_success
    assert ['Authorization' in headers for headers in served.headers] == [False]


@pytest.mark.parametrize('key', [b'Bearer sk-Secret-7', 'Bearer Secret-é'.encode()])
def test_a_clients_key_is_passed_on_and_shown_nowhere(key, caplog):
    caplog.set_level(logging.DEBUG)
    error_body = b'{"error": {"message": "no such key", "code": "invalid_api_key"}}'
    with proxied(replying(RIGHT), Broken(401, error_body)) as (served, client):
        headers = {'Authorization': key}
        answer = client.post(CHAT, json=said(BEES), headers=headers)
    assert answer.status_code == 401
    assert answer.json()['error']['code'] == 'invalid_api_key'
    assert served.headers[0]['Authorization'].encode('latin-1') == key
    mine = [r for r in caplog.records if r.name.startswith('parlai_q2')]
    assert all('Secret' not in record.getMessage() for record in mine)


def test_it_answers_only_to_its_own_names():
    with proxied(replying(RIGHT), hosts=('127.0.0.1',)) as (_, client):
        assert client.get('/health').is_success
        other = {'Host': 'elsewhere.example'}
        assert client.get('/health', headers=other).status_code == 400


def test_requests_beyond_the_queue_are_told_to_come_again():
    with proxied(
        replying(RIGHT), *[Broken(body=WHOLE, wait=0.5)] * 2, max_queue=2, candidates=1
    ) as (_, client):
        with ThreadPoolExecutor(6) as pool:
            futures = [
                pool.submit(client.post, CHAT, json=said(BEES)) for _ in '123456'
            ]
        answers = [future.result() for future in futures]
        assert client.post(CHAT, json=said(BEES)).is_success
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200] * 2 + [429] * 4
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.headers['Retry-After'] == '1'


@pytest.mark.parametrize(
    'broken, status, message',
    [
        (Broken(500, b'oops'), 500, "'oops'"),
        (Broken(404, b'{"error": {"message": "no model m"}}'), 404, 'no model m'),
        (Broken(429, b'{}', {'Retry-After': '7'}), 429, 'answered 429'),
        (Broken(307, headers={'Location': 'http://elsewhere'}), 502, 'redirects'),
        (Broken(204, b''), 502, 'answered 204'),
        # No status of HTTP, which a server must not answer.
        (Broken(999, b'oops'), 502, 'answered 999'),
        (Broken(body=b'{"error": {"message": "no memory"}}'), 502, 'no memory'),
        (Broken(body=b'\xff' * 50), 502, 'chat-completions protocol'),
        (Broken(body=b'{"choices": [7]}'), 502, 'chat-completions protocol'),
        (Broken(body=b'{"choices": []}'), 502, 'gave 0'),
        (Broken(body=WHOLE, cut=20), 502, 'broke off'),
        (Broken(cut=0), 502, 'broke off'),
        (Broken(body=WHOLE, headers={'Content-Encoding': 'gzip'}), 502, 'compresses'),
        (Broken(body=WHOLE, wait=3), 504, 'within 1 s'),
        (Broken(body=WHOLE, drip=0.1), 504, 'within 1 s'),
    ],
)
def test_a_server_that_fails_has_a_clear_status(broken, status, message):
    with proxied(replying(RIGHT), broken, candidates=1, timeout=1.0) as (_, client):
        answer = client.post(CHAT, json=said(BEES))
        assert (answer.status_code, message in answer.text) == (status, True)
        assert answer.headers.get('Retry-After') == broken.headers.get('Retry-After')
        assert text_of(client.post(CHAT, json=said(BEES)).json()) == RIGHT


def test_an_answer_that_is_nested_too_deeply_to_be_written_is_the_servers_fault():
    depths = range(920, 1000, 4)
    bodies = [
        b'{"choices": [%s], "more": %s%s}'
        % (json.dumps(choice(RIGHT)).encode(), b'[' * depth, b']' * depth)
        for depth in depths
    ]
    broken = [Broken(body=body) for body in bodies]
    with proxied(replying(RIGHT), *broken, candidates=1) as (_, client):
        answers = [client.post(CHAT, json=said(BEES)) for _ in depths]
    # Which depths can be read, but not written, depends on Python.
    assert {answer.status_code for answer in answers} <= {200, 502}
    answer = answer_error(RecursionError())
    assert answer.status_code == 502
    assert b'nested too deeply' in answer.body


def test_a_number_that_is_too_large_is_null():
    body = b'{"choices": [{"message": {"content": "Hi"}}], "created": 1e400}'
    with proxied(replying(RIGHT), Broken(body=body), candidates=1) as (_, client):
        answer = client.post(CHAT, json=said(BEES))
    assert answer.json()['created'] is None


CHUNK = '{"choices": [{"index": 0, "delta": {"content": "Zwölf Bienen. "}}]}'


@pytest.mark.parametrize(
    'broken, text, message',
    [
        # A byte at a time: letters come in halves.
        (stream_of(CHUNK, '[DONE]', drip=0.001), 'Zwölf Bienen. ', None),
        (stream_of(CHUNK, '{garbage'), 'Zwölf Bienen. ', 'chat-completions protocol'),
        (stream_of(CHUNK), 'Zwölf Bienen. ', 'broke off in the middle'),
        (stream_of(CHUNK, CHUNK, cut=80), 'Zwölf Bienen. ', 'broke off'),
        (stream_of(CHUNK, '{"error": {"message": "no memory"}}'), None, 'no memory'),
        # Whoever sends a byte now and then sends no event.
        (stream_of(CHUNK, 'a' * 900, drip=0.004), None, 'within 2 s'),
        (stream_of(CHUNK, 'a' * 2**21), 'Zwölf Bienen. ', 'too long'),
    ],
)
def test_a_stream_that_breaks_off_says_so(broken, text, message):
    with proxied(replying(RIGHT), broken, timeout=2.0) as (_, client):
        answer = client.post(CHAT, json=said(stream=True))
    events = [e.removeprefix('data: ') for e in answer.text.split('\n\n') if e]
    first_delta = json.loads(events[0])['choices'][0]['delta']
    assert first_delta['content'] == (text or 'Zwölf Bienen. ')
    if message is None:
        assert events[1:] == ['[DONE]']
    else:
        assert message in json.loads(events[-1])['error']['message']


def test_a_stream_that_never_ends_is_left(monkeypatch):
    monkeypatch.setattr('parlai_q2.generate.server.MAX_STREAM', 9 * len(CHUNK))
    with proxied(replying(RIGHT), stream_of(*[CHUNK] * 99)) as (_, client):
        answer = client.post(CHAT, json=said(stream=True))
    assert answer.text.count('Bienen') == 9
    assert 'wrote more than' in answer.text


@pytest.mark.parametrize('logprobs', [{'content': 7}, {'content': [7]}, {'x': []}, []])
def test_log_probabilities_that_are_none_are_left_out(logprobs):
    body = json.dumps({'choices': [{**choice(RIGHT), 'logprobs': logprobs}]}).encode()
    with proxied(replying(RIGHT), Broken(body=body), candidates=1) as (_, client):
        answer = client.post(CHAT, json=said(BEES))
    assert text_of(answer.json()) == RIGHT
    assert answer.json()['grounding']['candidates'][0]['mean_logprob'] is None


@pytest.mark.parametrize('broken', [Broken(503, b'busy'), Broken(body=b'<html>')])
def test_a_stream_that_does_not_begin_has_a_status(broken):
    with proxied(replying(RIGHT), broken) as (_, client):
        answer = client.post(CHAT, json=said(stream=True))
    assert answer.status_code in (502, 503)


def test_a_request_that_does_not_arrive_is_told_so():
    with proxied(replying(RIGHT), patience=0.3) as (_, client):
        address = client.base_url.host, client.base_url.port
        with socket.create_connection(address, timeout=10) as slow:
            head = f'POST {CHAT} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n'
            slow.sendall(f'{head}Content-Type: application/json\r\n\r\n{{'.encode())
            with slow.makefile('rb') as answer:  # until the connection is closed
                assert answer.read().startswith(b'HTTP/1.1 408 ')


def test_a_client_that_leaves_ends_its_request():
    begun = threading.Event()

    def wait(fields):
        begun.set()
        time.sleep(1.0)
        return [RIGHT]

    with proxied(wait, candidates=1) as (_, client):
        with pytest.raises(httpx.ReadTimeout):
            client.post(CHAT, json=said(BEES), timeout=0.3)
        assert begun.wait(5)
        deadline = time.monotonic() + 5
        while 'in_progress 0.0' not in client.get('/metrics').text:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert 'status="499"} 1.0' in client.get('/metrics').text


def test_what_users_write_is_not_logged(caplog):
    caplog.set_level(logging.DEBUG)
    bad = Broken(body=b'{"choices": [{"message": {"content": "Quark 7"}, "x": 1}]}')
    with proxied(replying('Quark 7.'), bad) as (_, client):
        for body in (said('Quark 8.'), {'messages': ['Quark 9']}, said(n='Quark')):
            client.post(CHAT, json=body)
    mine = [r for r in caplog.records if r.name.startswith('parlai_q2')]
    assert 'Quark' not in ''.join(record.getMessage() for record in mine)


def test_knowledge_that_is_not_read_may_have_any_length(client):
    body = {**said('Bees. ' * 900), 'response_format': {'type': 'json_object'}}
    assert client.post(CHAT, json=body).status_code == 200
