"""When the agent explains replies: for a log, or when asked in chat; never before."""

import pytest
from parlai.core.message import Message

from tests.agents.rerank_toys import TOY, make_agent, reply_to

MESSAGES = ('1 2 3 4', '4 3 2 1', '5 5 6 6')


def batches(agent):
    return agent.reranker.explainer.batches


def explained(reply):
    """The places of the rows with evidence."""
    return [n for n, row in enumerate(reply['rerank']) if row['evidence']]


def shown(reply):
    return [n for n, r in enumerate(reply['rerank']) if r['chosen'] or r['first']]


@pytest.mark.parametrize('option', ['world_logs', 'outfile'])
def test_replies_that_are_logged_are_explained_in_one_call_a_batch(option):
    agent = make_agent(explain=TOY, rerank_by='score')
    agent.opt[option] = 'replies.jsonl'
    replies = reply_to(agent, *MESSAGES, knowledge='3 1')
    assert len(batches(agent)) == 1
    assert [explained(reply) for reply in replies] == [shown(r) for r in replies]
    assert any(len(shown(reply)) == 2 for reply in replies)


def test_others_are_explained_when_asked():
    agent = make_agent(explain=TOY)
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    assert batches(agent) == []
    assert explained(reply) == []
    later = agent.explained(agent.explained(reply))
    assert len(batches(agent)) == 1
    assert explained(later) == shown(later)
    assert explained(reply) == [], 'the reply itself is left as it is'
    assert agent.explained({'text': 'a command'}) == {'text': 'a command'}


def test_a_chat_explains_for_why_and_candidates_once():
    agent = make_agent(explain=TOY, interactive_mode=True).clone()
    agent.set_interactive_mode(True)
    for text, calls in (
        ('/knowledge 3 1', 0),
        ('1 2 3 4', 0),
        ('/why', 1),
        ('/candidates', 1),
        ('2 2', 1),
        ('/candidates', 2),
    ):
        agent.observe(Message({'text': text, 'episode_done': False}))
        agent.act()
        assert len(batches(agent)) == calls, text
