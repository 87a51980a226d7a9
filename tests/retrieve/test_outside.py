"""
Custom retrievers: the example of the docs, against a server that speaks OpenSearch's
API, and retrievers of the shape that LangChain and LlamaIndex have.
"""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.request import Request, urlopen

import pytest

from parlai_q2.cli.knowledge_options import index_from_opt
from parlai_q2.errors import ConfigError, ServerError
from parlai_q2.retrieve.grounding import Grounder
from parlai_q2.retrieve.presets import Search
from parlai_q2.turns import Source
from tests.conftest import ROOT

CODE = ROOT / 'docs' / 'examples' / 'opensearch.py'
RECORDED = json.loads(Path(__file__).with_name('opensearch.json').read_text())


class Replayed(BaseHTTPRequestHandler):
    """Answers what was asked of the server as it did; 400 to anything else."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers['Content-Length'])).decode()
        lines = [json.loads(line) for line in body.splitlines()]
        answer = next(
            (e['answer'] for e in RECORDED['exchanges'] if e['request'] == lines), None
        )
        documents = (
            answer is not None
            and self.path == '/_msearch'
            and body.endswith('\n')
            and self.headers['Content-Type'] == 'application/x-ndjson'
        )
        said = json.dumps(answer).encode()
        self.send_response(200 if documents else 400)
        self.send_header('Content-Length', str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *arguments):
        pass


@contextmanager
def replaying():
    server = HTTPServer(('127.0.0.1', 0), Replayed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f'http://127.0.0.1:{server.server_port}'
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def running():
    osmem = pytest.importorskip('osmem_server')
    with osmem.OsmemServer.start(addr='127.0.0.1:0') as server:
        lines = []
        for number, document in enumerate(RECORDED['documents']):
            place = {'_index': 'passages', '_id': str(number)}
            lines += [{'index': place}, document]
        body = ''.join(f'{json.dumps(line)}\n' for line in lines).encode()
        kind = {'Content-Type': 'application/x-ndjson'}
        with urlopen(Request(f'{server.url}/_bulk?refresh=true', body, kind)) as got:
            assert not json.load(got)['errors']
        yield server.url


@pytest.fixture(params=[replaying, running])
def engine(request, monkeypatch):
    """The module that the page names, and a server for it."""
    monkeypatch.syspath_prepend(str(CODE.parent))
    import opensearch

    with request.param() as address:
        monkeypatch.setattr(opensearch, 'ADDRESS', address)
        yield opensearch


def test_the_client_of_the_page_finds_passages(engine):
    queries = ['Do pumps hum?', 'hoses', 'zithers']
    pumps, hoses, nothing = engine.OpenSearch().search(queries, 2)
    assert [hit.passage.text for hit in pumps] == [
        'Pumps hum.',
        'Taps drip, and pumps do not.',
    ]
    assert pumps[0].passage.source == Source('pumps.md')
    assert [(hit.passage.title, hit.key) for hit in hoses] == [('Hoses', 1)]
    assert pumps[0].score > pumps[1].score > 0
    assert nothing == []


def test_an_error_of_the_server_is_told(engine, monkeypatch):
    monkeypatch.setattr(engine, 'INDEX', 'nowhere')
    with pytest.raises(ServerError, match=r'no such index \[nowhere\]'):
        engine.OpenSearch().search(['Do pumps hum?'], 2)
    monkeypatch.setattr(engine, 'ADDRESS', 'http://127.0.0.1:9')
    with pytest.raises(ServerError, match=r'127.0.0.1:9'):
        engine.OpenSearch().search(['Do pumps hum?'], 2)


def test_the_agent_takes_a_retriever_by_name(engine):
    grounder = index_from_opt(
        {
            'knowledge_index': 'opensearch:OpenSearch',
            'knowledge_answers': False,
            'knowledge_passages': 2,
        }
    )
    (turn_knowledge,) = grounder.ground([['Do pumps hum?']])
    assert turn_knowledge.passages[0].text == 'Pumps hum.'


@pytest.mark.parametrize('name', ['nowhere_at_all:Client', 'json:loads', 'json:No'])
def test_what_is_no_retriever_is_refused(name):
    with pytest.raises(ConfigError, match=name):
        index_from_opt({'knowledge_index': name, 'knowledge_answers': False})


@pytest.mark.parametrize('k', [0, -1])
def test_less_than_one_passage_is_refused_before_the_first_search(engine, k):
    opt = {'knowledge_index': 'opensearch:OpenSearch', 'knowledge_passages': k}
    with pytest.raises(ConfigError, match=f'at least 1, not {k}'):
        index_from_opt(opt)
    with pytest.raises(ConfigError, match=f'not {k}: --knowledge-passages 5'):
        Search(passages=k).check()


OTHER_RETRIEVERS = (ROOT / 'docs/examples/other_retrievers.py').read_text(
    encoding='utf-8'
)


def langchain_documents(query):
    """What ``invoke`` of a LangChain retriever returns."""
    return [
        SimpleNamespace(page_content=f'{query} hum.', metadata={'source': 'a.md'}),
        SimpleNamespace(page_content='Hoses bend.', metadata={'source': 'b.md'}),
    ]


def llama_nodes(query):
    """What ``retrieve`` of a LlamaIndex retriever returns."""
    return [
        SimpleNamespace(
            text=f'{query} hum.', score=0.9, metadata={'file_name': 'a.md'}
        ),
        SimpleNamespace(text='Hoses bend.', score=0, metadata={'file_name': 'b.md'}),
    ]


SHAPES = {
    'LangChain': SimpleNamespace(invoke=langchain_documents),
    'LlamaIndex': SimpleNamespace(retrieve=llama_nodes),
}


@pytest.mark.parametrize('name', SHAPES)
def test_retrievers_of_other_libraries_fit(name):
    scope = {}
    exec(OTHER_RETRIEVERS, scope)
    scope['retriever'] = SHAPES[name]
    hits, _ = scope[name]().search(['Pumps', 'Taps'], 1)
    assert [hit.passage.text for hit in hits] == ['Pumps hum.']
    assert hits[0].passage.source == Source('a.md')
    (turn_knowledge,) = Grounder(scope[name](), k=2).ground([['Pumps']])
    assert [p.text for p in turn_knowledge.passages] == ['Pumps hum.', 'Hoses bend.']
    assert turn_knowledge.searched
    assert not turn_knowledge.declined
