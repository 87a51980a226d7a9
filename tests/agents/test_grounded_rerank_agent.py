"""The agent over a small generator: what it searches, says and explains."""

import pytest
import torch
from parlai.core.agents import create_agent, create_agent_from_shared
from parlai.core.message import Message
from parlai.core.params import ParlaiParser

from parlai_q2.cli.scorer_options import DEFAULT_ABSTAIN_TEXT
from tests.agents.rerank_toys import MADE, TOY, make_agent, reply_to, trained_generator


@pytest.fixture(scope='module')
def agent():
    return make_agent()


def texts(reply):
    return [row['text'] for row in reply['rerank']]


def test_sharing_loads_nothing_again(agent):
    scorer_count = len(MADE)
    shared = create_agent_from_shared(agent.share())
    clone = agent.clone()
    assert len(MADE) == scorer_count
    for other in (shared, clone):
        assert type(other) is type(agent)
        assert other.reranker is agent.reranker
        assert other.model is agent.model
        assert other.knowledge is not agent.knowledge


def test_a_whole_batch_is_scored_in_one_call(agent):
    scorer = agent.reranker.chooser
    before = len(scorer.batches)
    replies = reply_to(agent, '1 2 3 4', '4 3 2 1', '5 5 6 6')
    assert len(scorer.batches) == before + 1
    assert len(scorer.batches[-1]) == sum(len(r['rerank']) for r in replies)


def test_the_turn_that_is_answered_has_no_knowledge_in_it():
    agent = make_agent(knowledge_delimiter='|')
    for text in ('3 1|1 2 3 4', '__knowledge__ 3 1 __endknowledge__ 1 2 3 4'):
        (reply,) = reply_to(agent, text, knowledge=None)
        assert reply['rerank_turn'] == '1 2 3 4'
        assert reply['rerank_knowledge'] == '3 1'


def test_the_likelihood_counts_in_the_choice():
    agent = make_agent(rerank_by='score_plus_generator')
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    sums = [r['guarded_score'] + 0.3 * r['mean_logprob'] for r in reply['rerank']]
    assert sums == sorted(sums, reverse=True)
    assert sums[0] > sums[-1]
    scores = [row['score'] for row in reply['rerank']]
    assert scores != sorted(scores, reverse=True)


def test_the_first_candidate_is_what_the_first_strategy_alone_would_say(agent):
    plain = ParlaiParser(True, True).parse_kwargs(
        model='transformer/generator',
        model_file=trained_generator(),
        inference='beam',
        beam_size=4,
        skip_generation=False,
        no_cuda=True,
    )
    plain_reply = create_agent(plain).respond(
        Message({'text': '6 0 1', 'episode_done': True})
    )
    (reply,) = reply_to(agent, '6 0 1')
    assert [row['text'] for row in reply['rerank'] if row['first']] == [plain_reply]


def test_empty_and_padded_messages_leave_the_others_alone(agent):
    clones = [agent.clone() for _ in range(3)]
    messages = [
        Message({'text': '', 'episode_done': True}),
        Message.padding_example(),
        Message({'text': '1 2', 'knowledge': '1 2', 'episode_done': True}),
    ]
    replies = agent.batch_act(
        [c.observe(m) for c, m in zip(clones, messages, strict=True)]
    )
    assert 'text' not in replies[1]
    assert replies[2]['text'] == reply_to(agent, '1 2', knowledge='1 2')[0]['text']
    assert replies[2]['metrics']['rerank/chosen'].value() > 0.5
    # Nothing was scored there: no metric, where 0 would count in a mean over tasks.
    assert 'rerank/chosen' not in replies[0]['metrics']
    assert replies[0]['metrics']['rerank/unverifiable'].value() == 1


def test_does_not_search_when_generation_is_skipped():
    agent = make_agent(skip_generation=True)
    (reply,) = reply_to(agent, '1 2 3 4', eval_labels=['1 2 3 4'])
    assert 'rerank' not in reply
    assert 'beam_texts' not in reply
    assert reply['metrics']['ppl'].value() > 1
    assert agent.reranker.chooser.batches == []


@pytest.mark.parametrize('place', ['port', 'local_human_candidates_file'])
def test_evidence_is_printed_in_a_terminal_and_answered_in_a_browser(place, capsys):
    clone = make_agent(interactive_mode=True).clone()
    clone.opt[place] = None
    clone.set_interactive_mode(True)
    for text in ('/knowledge 4 3 2', '1 2 3 4', '/candidates'):
        clone.observe({'text': text, 'episode_done': False})
        reply_text = clone.act()['text']
    assert ('CHOSEN' in reply_text) is (place == 'port')
    assert ('CHOSEN' in capsys.readouterr().out) is (place != 'port')


def test_outside_of_a_chat_a_command_is_a_text(agent):
    clone = agent.clone()
    clone.observe({'text': '/knowledge 1 2', 'knowledge': '1', 'episode_done': False})
    assert clone.act()['rerank']
    assert clone.history.history_raw_strings[0] == '/knowledge 1 2'


# A high temperature, since the little generator is very sure of itself.
SAMPLING = {'candidate_strategies': 'nucleus:8,delayedbeam:2', 'temperature': 3}


def test_a_seed_gives_the_same_candidates_again_whatever_came_before():
    first, other = (make_agent(**SAMPLING) for _ in range(2))
    torch.manual_seed(1)
    expected = texts(reply_to(first, '1 6 2 5')[0])
    torch.manual_seed(2)
    reply_to(other, '3 3 3')
    assert texts(reply_to(other, '1 6 2 5')[0]) == expected
    assert texts(reply_to(other, '3 3 3', '1 6 2 5')[1]) == expected
    third = make_agent(**SAMPLING, candidate_seed=1)
    assert texts(reply_to(third, '1 6 2 5')[0]) != expected


def test_a_seed_leaves_the_global_random_numbers_alone():
    agent = make_agent(**SAMPLING)
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    reply_to(agent, '1 6 2 5')
    assert torch.equal(torch.rand(3), expected)


def test_abstains_below_the_requested_score():
    agent = make_agent(abstain_below=0.9)
    grounded, not_grounded = reply_to(agent, '1 2 3 4', '5 5 5 5', knowledge='1 2 3 4')
    assert grounded['text'] == '1 2 3 4'
    assert not_grounded['text'] == DEFAULT_ABSTAIN_TEXT
    assert not_grounded['beam_texts'][0][0] != DEFAULT_ABSTAIN_TEXT
    assert not_grounded['metrics']['rerank/abstained'].value() == 1.0
    clone = agent.clone()
    clone.observe({'text': '5 5 5 5', 'knowledge': '1', 'episode_done': False})
    clone.act()
    assert clone.history.history_raw_strings[-1] == DEFAULT_ABSTAIN_TEXT


@pytest.mark.parametrize(
    'option, value',
    [
        ('candidate_strategies', 'beams:3'),
        ('rerank_by', 'luck'),
        ('candidates_until', 2),
        ('abstain_below', 2),
        ('abstain_below', float('nan')),
    ],
)
def test_an_option_out_of_range_is_named(option, value):
    with pytest.raises(ValueError, match=option.replace('_', '-')):
        make_agent(**{option: value})


# When replies are explained: for a log, or when asked in a chat; never before.
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
