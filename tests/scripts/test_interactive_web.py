"""``parlai_q2 interactive_web``: agents of ParlAI behind the chat's page."""

import json
import os
import re
import signal
import threading

import pytest
from parlai.core.agents import create_agent

from parlai_q2.errors import MissingPackageError
from parlai_q2.report.chat.server import PageServer
from parlai_q2.scripts import interactive_web as module
from parlai_q2.scripts.interactive_web import AgentConversation, InteractiveWebScript
from tests.agents.rerank_toys import AGENT, make_agent, trained_generator
from tests.report.chats import ask
from tests.rerank.toys import ToyScorer


@pytest.fixture(scope='module')
def agent():
    return make_agent(interactive_mode=True)


@pytest.fixture
def chat(agent):
    agent.reset()
    return AgentConversation(agent)


def test_a_turn_shows_the_candidates_of_the_reply(chat):
    found = chat.interact('1 2 3 4', '4 3 2')
    json.dumps(found, allow_nan=False)
    assert (found['number'], found['knowledge']) == (1, '4 3 2')
    turn = found['turn']
    assert turn['knowledge'] == [['4 3 2']]
    assert turn['as_chosen']
    assert turn['said'] == '1 2 3 4'
    assert turn['signature'].startswith('toy')
    (chosen,) = [c for c in turn['candidates'] if c['chosen']]
    assert ''.join(piece[0] for piece in chosen['response']) == turn['text']
    assert 0 <= chosen['score'] <= 1
    assert chosen['strategies']
    assert sum(c['first'] for c in turn['candidates']) == 1
    assert chat.state()['turns'] == [turn]


def test_the_field_and_the_command_are_one(chat):
    assert chat.interact('1 2', None)['knowledge'] == ''
    assert chat.interact('1 2', 'field')['knowledge'] == 'field'
    found = chat.interact('/knowledge typed', 'field')
    assert found['knowledge'] == 'typed'
    assert 'Replies will stick to this: typed' in found['turn']['text']
    assert found['turn']['candidates'] == []
    assert chat.interact('/knowledge clear', 'typed')['knowledge'] == ''
    assert chat.interact('1 2', 'again\nwith lines')['knowledge'] == 'again\nwith lines'
    two = 'Tea __knowledge__ 1 2\nTea __knowledge__ 3\n\n4 5 6'
    found = chat.interact('1 2', two)
    assert found['knowledge'] == two
    # Passages stay apart: the page names the one that evidence is in.
    shown = ''.join(piece[0] for piece in found['turn']['knowledge'])
    assert 'Tea' in shown
    assert '4 5 6' in shown
    assert chat.interact('1 2', '')['knowledge'] == ''


@pytest.mark.parametrize('word', ['clear', 'Clear', '/why', 'a\n/knowledge b'])
def test_knowledge_in_the_field_is_never_a_command(chat, word):
    assert chat.interact('1 2', word)['knowledge'] == word


def test_knowledge_and_commands_stay_out_of_the_history(chat, agent):
    chat.interact('1 2', 'field')
    chat.interact('/why', 'field')
    said = agent.history.history_strings
    assert said[0] == '1 2'
    assert len(said) == 2


def test_a_new_conversation_knows_nothing_of_the_last(chat, agent):
    chat.interact('1 2', 'field')
    chat.reset()
    state = {'model': 'GroundedRerank', 'knowledge': '', 'turns': []}
    assert chat.state() == {**state, 'explains': False}
    assert agent.history.history_strings == []


def test_chats_with_agents_that_do_not_rerank():
    opt = InteractiveWebScript.setup_args().parse_kwargs(model='repeat_query')
    chat = AgentConversation(create_agent(opt))
    assert chat.state()['knowledge'] is None
    found = chat.interact('hello', 'ignored')
    assert found['turn']['text'] == 'hello'
    assert found['turn']['candidates'] == []
    assert found['knowledge'] is None


def test_a_failure_leaves_an_agent_that_replies(chat, agent, monkeypatch):
    monkeypatch.setattr(agent.knowledge.source, 'delimiter', '\n')
    with monkeypatch.context() as patch:

        def fail(*_):
            raise RuntimeError('out of memory')

        patch.setattr(agent.reranker.chooser, 'score', fail)
        with pytest.raises(RuntimeError, match='out of memory'):
            chat.interact('3 4\n1 2')
    # As if it had not been said.
    assert agent.history.history_strings == agent.history.history_raw_strings == []
    assert chat.interact('1 2', 'field')['turn']['knowledge'] == [['field']]
    assert agent.history.history_strings[0] == 'field\n1 2'
    assert len(agent.history.history_strings) == 2


def test_the_command_serves_until_ctrl_c(monkeypatch):
    told, serve = [], PageServer.serve
    monkeypatch.setattr(module.logging, 'info', told.append)

    def visit(server):
        try:
            page = ask(server, 'GET', '/')[2]
            message = {'text': '1 2 3', 'knowledge': '3 2'}
            told.append([page, ask(server, 'POST', '/interact', message)[2]['turn']])
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    def serve_visitor(server, make_conversation):
        visitor = threading.Thread(target=visit, args=[server])
        visitor.start()
        try:
            serve(server, make_conversation)
        finally:
            visitor.join()

    monkeypatch.setattr(PageServer, 'serve', serve_visitor)
    options = {'model': AGENT, 'model_file': trained_generator(), 'choose': 'overlap'}
    InteractiveWebScript.main(**options, port=0)
    *_, address, (page, turn), end = told
    assert re.fullmatch(
        r'Chat at http://127\.0\.0\.1:\d+/#\S+ \(Ctrl-C ends it\)', address
    )
    assert 'Chat with GroundedRerank' in page
    assert turn['knowledge'] == [['3 2']]
    assert turn['candidates']
    assert end == 'The chat has ended.'


def test_missing_packages_of_the_chat_are_named(without_package):
    without_package('uvicorn')
    with pytest.raises(MissingPackageError, match=r'parlai_q2\[web\]'):
        InteractiveWebScript.main(model='repeat_query')


def test_evidence_is_found_after_the_reply(agent, chat, monkeypatch):
    evidence = ToyScorer()
    monkeypatch.setattr(agent.reranker, '_explain', evidence)
    found = chat.interact('1 2 3 4', '4 3 2')
    assert evidence.batches == []
    turn = chat.evidence(1)
    assert len(evidence.batches) == 1
    (chosen,) = [c for c in turn['candidates'] if c['chosen']]
    assert chosen['explained']
    assert turn['text'] == found['turn']['text']
    assert chat.state()['turns'] == [turn]
