"""
Runs a documented command in this process, so that all of them share loaded models; cut
short where it would take long, and with somebody at the keyboard where it asks.
"""

import builtins
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import threading
import urllib.request
from itertools import pairwise
from pathlib import Path
from typing import Any

from parlai_q2.__main__ import run as run_parlai_q2
from parlai_q2.report.chat.server import PageServer
from tests.agents.protocol_server import serving

TASK = 'parlai_q2.tasks.grounded_sample.agents'
# What stands for a choice of the reader's.
CHOICES = {'<task>': TASK, '<any ParlAI task>': TASK}
# Put behind a command's own options: of one given twice, the last counts.
SHORTER = {
    'eval_model': '--num-examples 2 --batchsize 1',
    'display_data': '--num-examples 2',
    'display_model': '--num-examples 2',
    'train_model': '--max-train-steps 2 --validation-max-exs 2 --batchsize 2 '
    '--lr-scheduler fixed --short-final-eval true',
    'filter': '--num-examples 4',
    'distill': '--num-examples 2',
    'demo': '--turns 1 --choose overlap',
    # Figures have tests of their own (tests/evaluate).
    'meta_eval': '--num-examples 2 --rounds 20 --ablations false --figures false',
    'bench': '--responses 2 --rounds 1',
    'interactive_web': '--port 0',
}
# A generator that a page trains is as good at random if it is small.
SMALL = '--embedding-size 16 --ffn-size 16'
# Two candidates of a turn are enough to choose from.
FEW_CANDIDATES = '--candidate-strategies beam:2'
# The tiny generator of the tests reads 64 tokens.
SHORT_TEXT = '--text-truncate 32'
# The server that the pages name; a small one stands for it.
SERVER = 'http://localhost:8000/v1'
INPUTS = ('/knowledge 1 2 3 4', '2 1', '/why', '/candidates')
OUTPUTS = re.compile(r'--(?:out|outfile|report-filename|world-logs) (\S+)')


def run_command(command: str, monkeypatch: Any) -> None:
    """
    Run a command, which may have a here-document, in the current folder.

    :raises AssertionError: when it fails, or leaves out what it should have written.
    """
    for words, choice in CHOICES.items():
        command = command.replace(words, choice)
    programs = shlex.split(command, comments=True)
    while programs and re.match(r'\w+=', programs[0]):
        name, _, value = programs.pop(0).partition('=')
        monkeypatch.setenv(name, value)
        if name == 'PYTHONPATH':
            monkeypatch.syspath_prepend(os.path.abspath(value))
    program, *arguments = programs
    before = {path: path.stat().st_mtime_ns for path in Path().rglob('*')}
    if re.search(r'[|>;]|&&|<<', command) or program not in RUNNERS:
        run_in_shell(command)
    else:
        monkeypatch.setattr(builtins, 'input', person(INPUTS))
        monkeypatch.setattr(PageServer, 'serve', served_to_a_visitor)
        RUNNERS[program](arguments, monkeypatch)
    # "-" is the standard output.
    for name in filter(lambda name: name != '-', OUTPUTS.findall(command)):
        outputs = [path for path in Path().rglob('*') if str(path).startswith(name)]
        assert any(p.stat().st_mtime_ns != before.get(p) for p in outputs), name


def run_in_shell(command: str) -> None:
    """Let a shell run it, with this environment's programs."""
    path = f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}'
    completed = subprocess.run(
        ['bash', '-ec', command],
        env={**os.environ, 'PATH': path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert completed.returncode == 0, completed.stderr[-3000:]


def _parlai(arguments: list[str], monkeypatch: Any) -> None:
    from parlai.core.script import SCRIPT_REGISTRY, setup_script_registry

    setup_script_registry()
    command = SCRIPT_REGISTRY[arguments[0]].klass
    assert command.__module__.startswith('parlai.'), f"{arguments[0]} is not ParlAI's"
    assert not any(word.startswith('q2:') for word in arguments), 'a short name'
    _parlai_q2(arguments, monkeypatch)


def _parlai_q2(arguments: list[str], monkeypatch: Any) -> None:
    name = arguments[0]
    shorter = shlex.split(SHORTER.get(name, ''))
    reads_model = any(pair == ('-mf', 'model') for pair in pairwise(arguments))
    if name != 'demo' and reads_model:
        shorter += shlex.split(SHORT_TEXT)
    if name == 'train_model' and 'transformer/generator' in arguments:
        shorter += shlex.split(SMALL)
    if 'grounded_rerank' in ' '.join(arguments):
        shorter += shlex.split(FEW_CANDIDATES)
    monkeypatch.setattr(sys, 'argv', ['parlai_q2', *arguments])
    with serving(lambda request: ['2 1', '1 2'][: request['n']]) as served:
        arguments = [served.url if word == SERVER else word for word in arguments]
        try:
            run_parlai_q2([*arguments, *shorter])
        except SystemExit as end:
            assert not end.code, end
        assert served.requests or served.url not in arguments


def _python(arguments: list[str], monkeypatch: Any) -> None:
    if arguments[0] == '-m':
        monkeypatch.setattr(sys, 'argv', arguments[1:])
        runpy.run_module(arguments[1], run_name='__main__', alter_sys=True)
    else:
        monkeypatch.setattr(sys, 'argv', arguments)
        monkeypatch.syspath_prepend(os.getcwd())
        runpy.run_path(arguments[0], run_name='__main__')


RUNNERS = {'parlai': _parlai, 'parlai_q2': _parlai_q2, 'python': _python}


def person(inputs: tuple[str, ...]) -> Any:
    """What stands for the keyboard: says these lines, and then leaves."""
    lines = iter(inputs)
    return lambda prompt='': next(lines, '[EXIT]')


_SERVE = PageServer.serve


def served_to_a_visitor(server: PageServer, make_conversation: Any) -> None:
    """Serve until a visitor, who opens the page and says something, has a reply."""
    got: dict[str, Any] = {}

    def visit() -> None:
        try:
            with urllib.request.urlopen(server.url, timeout=60) as answer:
                got['page'] = answer.read().decode()
            body = json.dumps({'text': '1 2', 'knowledge': '2 1'}).encode()
            kind = {'Content-Type': 'application/json'}
            kind['Authorization'] = f'Bearer {server.access.token}'
            url = f'{server.access.url}interact'
            request = urllib.request.Request(url, body, kind)
            with urllib.request.urlopen(request, timeout=300) as answer:
                got['turn'] = json.load(answer)
        except Exception as error:
            got['error'] = error
        finally:
            server.stop()

    visitor = threading.Thread(target=visit)
    visitor.start()
    _SERVE(server, make_conversation)
    visitor.join()
    assert 'error' not in got, got
    assert '<title>' in got['page']
    assert got['turn']['turn']['text']
