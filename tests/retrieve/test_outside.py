"""A retriever of one's own: the client of the docs, and answers written here."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.parlai.knowledge_options import index_from_opt
from parlai_q2.turns import Source
from tests.docs.code_in_docs import code_of

PAGE = Path(__file__).resolve().parents[2] / 'docs' / 'documents.md'
# As OpenSearch's documentation shows the answer to _msearch.
HIT = {
    '_index': 'passages',
    '_id': '7',
    '_score': 1.5,
    '_source': {'text': 'Pumps hum.', 'title': 'Pumps', 'file': 'pumps.md'},
}


class Documented(BaseHTTPRequestHandler):
    asked: list[list[dict]] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        lines = [json.loads(line) for line in body.splitlines()]
        assert self.path == '/_msearch' and body.endswith('\n')
        assert self.headers['Content-Type'] == 'application/x-ndjson'
        self.asked.append(lines)
        responses = [
            {'took': 1, 'status': 200, 'hits': {'hits': [HIT][: len(lines)]}}
            for _ in lines[1::2]
        ]
        answer = json.dumps({'took': 2, 'responses': responses}).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        pass


@pytest.fixture
def engine(tmp_path, monkeypatch):
    """The module that the page shows, and a server that answers as documented."""
    (code,) = [one for one in code_of(PAGE) if one.name == 'engine.py']
    assert len(code.text.splitlines()) < 60
    (tmp_path / 'engine.py').write_text(code.text)
    monkeypatch.syspath_prepend(str(tmp_path))
    server = HTTPServer(('127.0.0.1', 0), Documented)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    import engine

    monkeypatch.setattr(engine, 'ADDRESS', f'http://127.0.0.1:{server.server_port}')
    Documented.asked.clear()
    yield engine
    server.shutdown()
    server.server_close()
    monkeypatch.delitem(__import__('sys').modules, 'engine')


def test_the_client_of_the_page_finds_passages(engine):
    found = engine.OpenSearch().search(['Do pumps hum?', 'Hoses'], 3)
    assert [one.passage.text for one in found[0]] == ['Pumps hum.']
    assert found[0][0].passage.source == Source('pumps.md')
    assert (found[0][0].score, found[0][0].key, len(found)) == (1.5, 7, 2)
    (lines,) = Documented.asked
    assert lines[0] == {'index': 'passages'} and lines[1]['size'] == 3
    assert lines[3]['query']['multi_match']['query'] == 'Hoses'


def test_the_agent_takes_a_retriever_by_name(engine):
    grounder = index_from_opt(
        {'knowledge_index': 'engine:OpenSearch', 'knowledge_answers': False}
    )
    (found,) = grounder.ground([['Hello.', 'Do pumps hum?']])
    assert [one.text for one in found.passages] == ['Pumps hum.']
    asked = Documented.asked[0][1]['query']['multi_match']['query']
    assert asked == 'Hello.\nDo pumps hum?'


@pytest.mark.parametrize('name', ['nowhere_at_all:Client', 'json:loads', 'json:No'])
def test_what_is_no_retriever_is_refused(name):
    with pytest.raises(ConfigError, match=name):
        index_from_opt({'knowledge_index': name, 'knowledge_answers': False})
