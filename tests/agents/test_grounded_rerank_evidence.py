"""
When the agent explains its replies: for a log, in chat when it is asked, never before.
"""

import pytest
from parlai.core.message import Message

from tests.agents.rerank_toys import TOY, make_agent, reply_to

MESSAGES = ('1 2 3 4', '4 3 2 1', '5 5 6 6')


def batches(agent):
    return agent.reranker.evidence.batches


def explained(reply):
    """The places of the rows with evidence."""
    return [n for n, row in enumerate(reply['rerank']) if 'evidence' in row]


def shown(reply):
    return [n for n, r in enumerate(reply['rerank']) if r['chosen'] or r['first']]


@pytest.mark.parametrize('option', ['world_logs', 'outfile'])
def test_replies_that_are_logged_are_explained_in_one_call_a_batch(option):
    agent = make_agent(evidence=TOY)
    agent.opt[option] = 'replies.jsonl'
    replies = reply_to(agent, *MESSAGES, knowledge='3 1')
    assert len(batches(agent)) == 1
    assert [explained(reply) for reply in replies] == [shown(r) for r in replies]
    assert any(len(shown(reply)) == 2 for reply in replies)


def test_others_are_explained_when_asked():
    agent = make_agent(evidence=TOY)
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    assert batches(agent) == [] and explained(reply) == []
    agent.explain(reply)
    agent.explain(reply)
    assert len(batches(agent)) == 1 and explained(reply) == shown(reply)
    agent.explain({'text': 'a command'})


@pytest.mark.parametrize('logged', [True, False])
def test_in_context_the_evidence_reads_the_turn_before_too(logged):
    agent = make_agent(evidence=TOY)
    agent.opt['in_context'] = True  # which parse_kwargs does not take
    agent.opt['world_logs'] = 'replies.jsonl' if logged else ''
    replies = reply_to(agent, '1 2 3 4', '4 3 2 1', knowledge='3 1')
    for reply in replies:
        agent.explain(reply)
    asked = [e for batch in batches(agent) for e in batch]
    turns = [('1 2 3 4',), ('4 3 2 1',)]
    assert [e.history for e in asked] == [
        turn for turn, reply in zip(turns, replies) for _ in shown(reply)
    ]
    assert [tuple(reply['rerank_history']) for reply in replies] == turns


def test_a_chat_explains_for_why_and_candidates_once():
    agent = make_agent(evidence=TOY, interactive_mode=True).clone()
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
