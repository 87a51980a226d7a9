"""
A real server on the loopback that speaks the chat-completions protocol, for tests. What
it answers is a function; it notes what it was asked.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import sleep
from typing import Any

# Gives the texts for a request's fields, or choices of the protocol.
Model = Callable[[dict[str, Any]], list[str | dict[str, Any]]]


@dataclass
class Broken:
    """An answer that is not as it should be."""

    status: int = 200
    body: bytes = b'{}'
    headers: dict[str, str] = field(default_factory=dict)
    # Sent only so far, though the header says that all of it comes.
    cut: int | None = None
    # Seconds before the answer, and between its bytes.
    wait: float = 0.0
    drip: float = 0.0


@dataclass
class Served:
    """A running server: its URL, and the requests that it got."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0


def choice(text: str, logprobs: list[float] | None = None) -> dict[str, Any]:
    """A choice of the protocol."""
    fields: dict[str, Any] = {'message': {'role': 'assistant', 'content': text}}
    if logprobs is not None:
        fields['logprobs'] = {
            'content': [{'token': 't', 'logprob': p} for p in logprobs]
        }
    return fields


@contextmanager
def serving(model: Model, *broken: Broken, most: int = 99) -> Iterator[Served]:
    """
    Run a server while the context lasts.

    :param broken: its first answers.
    :param most: how many choices it gives a request, whatever was asked for.
    """
    failures, lock = list(broken), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(Broken(body=b'{"object": "list", "data": [{"id": "m"}]}'))

        def do_POST(self) -> None:
            fields = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
            with lock:
                served.requests.append(fields)
                served.headers.append(dict(self.headers))
                served.paths.append(self.path)
                served.at_once += 1
                served.most_at_once = max(served.most_at_once, served.at_once)
                answer = failures.pop(0) if failures else None
            answer = answer or _answer_of(model(fields)[:most], fields)
            sleep(answer.wait)
            # Before the answer: whoever has it may ask again at once.
            with lock:
                served.at_once -= 1
            with suppress(BrokenPipeError, ConnectionResetError):
                self._answer(answer)

        def _answer(self, answer: Broken) -> None:
            if answer.cut == 0:
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header('Content-Length', str(len(answer.body)))
            self.end_headers()
            if answer.drip:
                for byte in answer.body:
                    self.wfile.write(bytes([byte]))
                    sleep(answer.drip)
            self.wfile.write(answer.body[: answer.cut])

        def log_message(self, *args: Any) -> None:
            pass

    httpd = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    httpd.daemon_threads = True
    served = Served(f'http://127.0.0.1:{httpd.server_port}/v1')
    thread = threading.Thread(target=httpd.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield served
    finally:
        httpd.shutdown()
        thread.join()
        httpd.server_close()


def _answer_of(choices: list[str | dict[str, Any]], fields: Any) -> Broken:
    choice_fields = [choice(c) if isinstance(c, str) else c for c in choices]
    usage = {'prompt_tokens': 2, 'completion_tokens': 3, 'total_tokens': 5}
    common = {'id': 'chatcmpl-7', 'created': 7, 'model': fields.get('model')}
    if not fields.get('stream'):
        common['object'] = 'chat.completion'
        common |= {'choices': choice_fields, 'usage': usage}
        return Broken(body=json.dumps(common).encode())
    [(place, message)] = [(n, c['message']) for n, c in enumerate(choice_fields)][:1]
    words = re.findall(r'\s*\S+\s*', message.pop('content', None) or '')
    deltas = [{'role': 'assistant'}, *({'content': word} for word in words), message]
    chunks = [{**common, 'choices': [{'index': place, 'delta': d}]} for d in deltas]
    chunks[-1]['choices'][0]['finish_reason'] = 'stop'
    chunks.append({**common, 'choices': [], 'usage': usage})
    return stream_of(*map(json.dumps, chunks), '[DONE]')


def stream_of(*events: str, **how: Any) -> Broken:
    """An answer of server-sent events."""
    kind = {'Content-Type': 'text/event-stream'}
    body = ''.join(f'data: {event}\n\n' for event in events)
    return Broken(body=body.encode(), headers=kind, **how)
