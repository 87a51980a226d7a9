"""
When the agent explains its replies: for a log, in chat when it is asked, never before.
"""

import json

import pytest
from parlai.core.message import Message

from parlai_q2.io.write import write_text
from parlai_q2.report.scored_file import read_scored_file
from tests.agents.rerank_toys import make_agent, reply_to

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
    agent = make_agent(evidence='toy')
    agent.opt[option] = 'replies.jsonl'
    replies = reply_to(agent, *MESSAGES, knowledge='3 1')
    assert len(batches(agent)) == 1
    assert [explained(reply) for reply in replies] == [shown(r) for r in replies]
    assert any(len(shown(reply)) == 2 for reply in replies)


def test_others_are_explained_when_asked():
    agent = make_agent(evidence='toy')
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    assert batches(agent) == [] and explained(reply) == []
    agent.explain(reply)
    agent.explain(reply)
    assert len(batches(agent)) == 1 and explained(reply) == shown(reply)
    agent.explain({'text': 'a command'})


def test_a_chat_explains_for_why_and_candidates_once():
    agent = make_agent(evidence='toy', interactive_mode=True).clone()
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


def test_a_report_shows_the_marks_of_a_logged_reply(tmp_path):
    (reply,) = reply_to(make_agent(), '1 2 3 4', knowledge='1 2 3')
    (row,) = [row for row in reply['rerank'] if row['chosen']]
    mark = {
        'question': '',
        'response_answer': row['text'][4],
        'response_span': [4, 5],
        'knowledge_answer': None,
        'knowledge_span': None,
        'comparison': 'neutral',
        'score': 0.1,
        'f1': 0.0,
    }
    row.update(verdicts=[mark], evidence='spans|version:0.4.0')
    fields = {name: reply[name] for name in ('text', 'rerank', 'rerank_knowledge')}
    teacher = {'id': 'task', 'text': '1 2 3 4', 'knowledge': '1 2 3'}
    log = {'dialog': [[teacher, {'id': 'model', **fields}]]}
    write_text(tmp_path / 'log.jsonl', json.dumps(log) + '\n')
    (entry,) = read_scored_file(tmp_path / 'log.jsonl')
    assert [v['status'] for v in entry['verdicts']] == ['unsupported']
    assert [row['text'][4], 'unsupported', [0]] in entry['response']
