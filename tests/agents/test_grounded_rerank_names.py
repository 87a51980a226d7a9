"""Where no candidate names what it is about, some are found that begin with it."""

import pytest
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser

from parlai_q2.agents.grounded_rerank.parlai_search import beginning_tokens
from parlai_q2.rerank.guards.subject import UnnamedGuard
from tests.agents.hf_models import AGENT as HF
from tests.agents.hf_models import LESSONS, checkpoint
from tests.agents.rerank_toys import AGENT, make_agent, reply_to

GAME = 'Legend of the 9 is a samurai game for the Xbox 360 developed by Genki.'
TURN = 'Hello, what do you do at weekends?'
OPTIONS = {'model': AGENT, 'no_cuda': True, 'explain': 'none'}
OPTIONS |= {'rerank_by': 'score_plus_generator'}


@pytest.fixture(scope='module')
def agent():
    return create_agent(ParlaiParser(True, True).parse_kwargs(**OPTIONS))


def strategies(reply):
    return [row['strategies'] for row in reply['rerank']]


def test_searches_for_replies_beginning_with_the_name_only_if_needed(agent):
    texts = (TURN, 'Have you heard of Legend of the 9?')
    together = reply_to(agent, *texts, knowledge=GAME)
    for reply, text in zip(together, texts, strict=True):
        [alone] = reply_to(agent, text, knowledge=GAME)
        assert reply['text'] == alone['text']
    named, other = together
    assert ['named'] not in strategies(other)
    assert named['text'].startswith('Legend of the 9 is a samurai game')
    assert strategies(named)[0] == ['named']
    assert strategies(named).count(['beam']) == 10
    # The generator's first is still the beam's.
    [first] = [row for row in named['rerank'] if row['first']]
    assert first['text'].startswith('It is')
    assert first['guards']
    assert first['guards'][-1] == 'unnamed'


@pytest.mark.parametrize(
    'family, guards', [('parlai', True), ('bart', True), ('parlai', False)]
)
def test_parlais_generators_begin_with_a_name_if_there_is_the_guard(
    family, guards, monkeypatch
):
    name, text = (
        ('1 2', '4 3 2') if family == 'parlai' else ('the dog', 'what is your name ?')
    )
    monkeypatch.setattr(
        'parlai_q2.agents.grounded_rerank.grounded_rerank.find_subject_name',
        lambda *_: name,
    )
    # Whatever it replies with needs a name.
    monkeypatch.setattr(UnnamedGuard, 'detect_kind', lambda *_: True)
    options = {'beam_min_length': 1, 'candidate_strategies': 'beam:3', 'guards': guards}
    if family != 'parlai':
        options |= {'generator': HF, 'hf_model': checkpoint(family)}
        options |= {'label_truncate': 12}
    agent = make_agent(**options)
    # All words of its replies are in the knowledge, so they are consistent.
    named_reply = reply_to(
        agent, text, text, knowledge=f'1 2 3 4 5 6 {LESSONS} the dog'
    )
    for reply in named_reply:
        rows = [row for row in reply['rerank'] if 'named' in row['strategies']]
        assert bool(rows) is guards
        assert all(row['text'].startswith(name) for row in rows)
        assert all(row['mean_logprob'] < 0 for row in rows)
    assert named_reply[0]['rerank'] == named_reply[1]['rerank']


def test_a_name_that_a_dictionary_does_not_know_is_not_begun_with():
    agent = make_agent()
    assert beginning_tokens(agent.dict, '1 2') == agent.dict.txt2vec('1 2')
    assert beginning_tokens(agent.dict, '1 Baikal') == []
    assert beginning_tokens(agent.dict, '') == []
