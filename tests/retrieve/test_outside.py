"""
Custom retrievers: the example of the docs, against a server that speaks OpenSearch's
API, and retrievers of the shape that LangChain and LlamaIndex have.
"""

import json
from types import SimpleNamespace
from urllib.request import Request, urlopen

import pytest

from parlai_q2.cli.knowledge_options import grounder_from_opt
from parlai_q2.errors import ConfigError, ServerError
from parlai_q2.retrieve.grounding import Grounder
from parlai_q2.retrieve.search import SearchSettings
from parlai_q2.turns import Source
from tests.conftest import ROOT

EXAMPLES = ROOT / 'docs' / 'examples'
DOCUMENTS = (
    {'text': 'Pumps hum.', 'title': 'Pumps', 'file': 'pumps.md'},
    {'text': 'Hoses bend in summer.', 'title': 'Hoses', 'file': 'hoses.md'},
    {'text': 'Taps drip, and pumps do not.', 'title': 'Taps', 'file': 'taps.md'},
)


@pytest.fixture(scope='module')
def address():
    """A server that has the documents."""
    osmem = pytest.importorskip('osmem_server')
    with osmem.OsmemServer.start(addr='127.0.0.1:0') as server:
        lines = []
        for number, document in enumerate(DOCUMENTS):
            place = {'_index': 'passages', '_id': f'd{number}'}
            lines += [{'index': place}, document]
        body = ''.join(f'{json.dumps(line)}\n' for line in lines).encode()
        kind = {'Content-Type': 'application/x-ndjson'}
        with urlopen(Request(f'{server.url}/_bulk?refresh=true', body, kind)) as got:
            assert not json.load(got)['errors']
        yield server.url


@pytest.fixture
def engine(address, monkeypatch):
    """The module that the page names, with the server."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import opensearch

    monkeypatch.setattr(opensearch, 'ADDRESS', address)
    return opensearch


def test_the_client_of_the_page_finds_passages(engine):
    queries = ['Do pumps hum?', 'hoses', 'zithers']
    pumps, hoses, nothing = engine.OpenSearch().search(queries, 2)
    texts = [hit.passage.text for hit in pumps]
    assert texts == ['Pumps hum.', 'Taps drip, and pumps do not.']
    assert pumps[0].passage.source == Source('pumps.md')
    assert [hit.passage.title for hit in hoses] == ['Hoses']
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
    grounder = grounder_from_opt(
        {
            'knowledge_index': 'opensearch:OpenSearch',
            'knowledge_answers': False,
            'knowledge_passages': 2,
        }
    )
    (turn_knowledge,) = grounder.ground([['Do pumps hum?']])
    assert turn_knowledge.passages[0].text == 'Pumps hum.'


@pytest.mark.parametrize('name', ['nowhere_at_all:Client', 'json:loads', 'json:No'])
def test_rejects_classes_without_search(name):
    with pytest.raises(ConfigError, match=name):
        grounder_from_opt({'knowledge_index': name, 'knowledge_answers': False})


def test_less_than_one_passage_is_refused_before_the_first_search(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    opt = {'knowledge_index': 'opensearch:OpenSearch', 'knowledge_passages': 0}
    with pytest.raises(ConfigError, match='at least 1, not 0'):
        grounder_from_opt({**opt, 'knowledge_answers': False})
    with pytest.raises(ConfigError, match='not 0: --knowledge-passages 5'):
        SearchSettings(passages=0)


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
    exec((EXAMPLES / 'other_retrievers.py').read_text('utf-8'), scope)
    scope['retriever'] = SHAPES[name]
    hits, _ = scope[name]().search(['Pumps', 'Taps'], 1)
    assert [hit.passage.text for hit in hits] == ['Pumps hum.']
    assert hits[0].passage.source == Source('a.md')
    (turn_knowledge,) = Grounder(scope[name](), k=2).ground([['Pumps']])
    assert [p.text for p in turn_knowledge.passages] == ['Pumps hum.', 'Hoses bend.']
    assert turn_knowledge.searched
    assert not turn_knowledge.declined
