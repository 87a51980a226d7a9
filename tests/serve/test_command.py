"""The command and what its pages show, with the shipped models behind it."""

import os
import re
import runpy
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Timer

import httpx
import pytest

from parlai_q2.cli.commands import build_parser, find, run_command
from parlai_q2.errors import Q2Error
from parlai_q2.scripts.serve import app_from_opt
from tests.agents.protocol_server import serving
from tests.conftest import ROOT
from tests.serve.running import proxy, serving_app
from tests.serve.test_chat import replying

KNOWLEDGE = 'The museum opened in 1903. It was designed by Anna Keller.'
REPLIES = ('It opened in 1950.', 'It was designed by Anna Keller.', 'Who knows?')
REQUEST = {
    'model': 'm',
    'messages': [
        {'role': 'system', 'content': KNOWLEDGE},
        {'role': 'user', 'content': 'Who designed the museum?'},
    ],
}


@contextmanager
def command(*options):
    """The running command, and its address."""
    words = [sys.executable, '-m', 'parlai_q2', 'serve', '--port', '0', *options]
    env = {**os.environ, 'PYTHONPATH': str(ROOT)}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            lines = iter(process.stderr.readline, '')
            addresses = (re.search(r'Serving (http://\S+)/v1', line) for line in lines)
            match = next(filter(None, addresses), None)
            assert match, 'it ended'
            yield process, match[1]
        finally:
            process.kill()


@pytest.mark.slow
def test_the_command_answers_and_ends_after_its_last_answer():
    def slowly(fields):
        time.sleep(1.0)
        return list(REPLIES)[: fields['n']]

    with (
        serving(slowly) as served,
        command('--upstream', served.url, '--candidates', '3') as (process, url),
    ):
        with httpx.Client(trust_env=False, timeout=60) as client:
            answer = client.post(f'{url}/v1/chat/completions', json=REQUEST)
            completion = answer.json()
            assert completion['choices'][0]['message']['content'] == REPLIES[1]
            [claim] = completion['grounding']['claims']
            start, end = claim['span']
            assert REPLIES[1][start:end] == claim['text']
            for evidence in claim['evidence']:
                start, end = evidence['span']
                assert KNOWLEDGE[start:end] == evidence['text']
            Timer(0.3, process.send_signal, [signal.SIGTERM]).start()
            last = client.post(f'{url}/v1/chat/completions', json=REQUEST)
        assert last.is_success
        assert process.wait(timeout=20) in (0, -signal.SIGTERM)


@pytest.mark.parametrize(
    'options, message',
    [
        ([], '--upstream is missing'),
        (['--upstream', 'host'], 'http://localhost:8000/v1'),
        (['--upstream', 'http://h/v1', '--candidates', '0'], '--candidates is 0'),
        (['--upstream', 'http://h/v1', '--max-queue', '0'], '--max-queue is 0'),
        (['--upstream', 'http://h/v1', '--knowledge-prompt', 'x'], '{knowledge}'),
        (['--upstream', 'http://h/v1', '--choose', 'nothing'], 'no scorer'),
        (
            ['--upstream', 'http://h/v1', '--knowledge-index', 'none'],
            'no index in none',
        ),
        (
            ['--upstream', 'http://h/v1', '--upstream-key-variable', 'NONE'],
            'NONE is not',
        ),
    ],
)
def test_a_wrong_option_says_what_is_right(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Q2Error, match=re.escape(message)):
        run_command('serve', '--port', '0', *options)


def app_of(*options):
    """The app that the command would serve, which scores by shared words."""
    words = ['--upstream', 'http://localhost:1/v1', '--choose', 'precision']
    words += ['--rerank-by', 'score', *options]
    return app_from_opt(build_parser(find('serve')).parse(words))


@pytest.mark.parametrize(
    'options, names, others',
    [
        (['--host', '127.0.0.2'], ['localhost', '127.0.0.2'], ['chat.org']),
        (
            ['--host', '0.0.0.0', '--allow-host', 'chat.org'],
            ['localhost', '[::1]', 'chat.org'],
            ['other.org'],
        ),
        (['--host', '0.0.0.0'], ['chat.org', '10.0.0.7'], []),
    ],
)
def test_the_proxy_answers_to_names_of_its_machine_and_those_it_is_given(
    options, names, others
):
    with serving_app(app_of(*options)) as url:
        for name in (*names, *others):
            headers = {'host': f'{name}:8080'}
            answer = httpx.get(f'{url}/health', headers=headers, trust_env=False)
            assert answer.is_success == (name in names)


def test_a_prompt_of_the_command_may_have_line_ends(monkeypatch):
    made = []
    monkeypatch.setattr('parlai_q2.serve.make_app', lambda *args: made.append(args))
    app_of('--knowledge-prompt', r'Keep to:\n{knowledge}')
    assert made[0][2].prompt == 'Keep to:\n{knowledge}'


@pytest.mark.slow
def test_the_code_of_the_page_on_web_services_runs(tmp_path, capsys):
    with serving(replying(*REPLIES, REPLIES[0])) as served:
        text = (ROOT / 'docs/examples/rank_server.py').read_text('utf-8')
        path = tmp_path / 'rank.py'
        path.write_text(text.replace('http://localhost:8000/v1', served.url))
        runpy.run_path(str(path))
    assert capsys.readouterr().out == f'{REPLIES[1]} consistent\n'
    app = runpy.run_path(str(ROOT / 'docs/examples/starlette_app.py'))['app']
    body = {'knowledge': KNOWLEDGE, 'replies': REPLIES, 'history': ['Who designed it?']}
    with serving_app(app) as url:
        completion = httpx.post(url, json=body, timeout=60, trust_env=False).json()
    assert completion['rerank'][0]['text'] == REPLIES[1]


@pytest.mark.slow
def test_the_small_server_of_the_page_gets_grounded_replies(monkeypatch):
    path = ROOT / 'docs' / 'examples' / 'small_server.py'
    app = runpy.run_path(str(path))['app']
    is_asked = Event()

    def write_slowly(request):
        is_asked.wait(9)
        return ['Hi.'], 1

    with serving_app(app) as url, proxy(f'{url}/v1', timeout=60) as client:
        completion = client.post('/v1/chat/completions', json=REQUEST).json()
        streamed = client.post('/v1/chat/completions', json={**REQUEST, 'stream': True})
        assert client.get('/v1/models').json()['data'][0]['id'] == 'shipped'
        monkeypatch.setitem(
            app.routes[0].endpoint.__globals__, 'complete', write_slowly
        )
        with ThreadPoolExecutor() as pool:
            path = f'{url}/v1/chat/completions'
            answer = pool.submit(httpx.post, path, json=REQUEST, timeout=20)
            # Nobody waits for a model that writes, unless it is asked.
            time.sleep(0.2)
            assert client.get('/v1/models').is_success
            assert not answer.done()
            is_asked.set()
            assert answer.result().is_success
    assert completion['grounding']['label'] == 'consistent'
    assert len(completion['grounding']['candidates']) == 4
    assert streamed.text.endswith('data: [DONE]\n\n')
