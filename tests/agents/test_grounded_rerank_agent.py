"""The agent over a small generator: what it is, how it searches, what it says."""

import pytest
import torch
from parlai.core.agents import create_agent, create_agent_from_shared
from parlai.core.message import Message
from parlai.core.params import ParlaiParser

from parlai_q2.cli.scorer_options import DEFAULT_ABSTAIN_TEXT
from tests.agents.rerank_toys import MADE, make_agent, reply_to, trained_generator


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


def test_the_likelihood_counts_in_the_choice():
    agent = make_agent(rerank_by='score_plus_generator')
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    sums = [r['guarded_score'] + 0.3 * r['mean_logprob'] for r in reply['rerank']]
    assert sums == sorted(sums, reverse=True)
    assert sums[0] > sums[-1]
    scores = [row['score'] for row in reply['rerank']]
    assert scores != sorted(scores, reverse=True)


def test_rule_score_returns_the_most_grounded_candidate():
    agent = make_agent(rerank_by='score')
    (reply,) = reply_to(agent, '1 2 3 4', knowledge='3 1')
    scores = [row['score'] for row in reply['rerank']]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > scores[-1]
    assert reply['text'] == texts(reply)[0]
    assert reply['rerank'][0]['chosen']
    assert reply['rerank_knowledge'] == '3 1'
    assert reply['rerank_signature'].startswith('toy|')


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


def test_keeps_the_generators_first_choice_without_knowledge(agent):
    calls = len(agent.reranker.chooser.batches)
    (reply,) = reply_to(agent, '1 2 3 4', knowledge=None)
    assert reply['rerank'][0]['first']
    assert reply['rerank'][0]['score'] is None
    assert reply['rerank_knowledge'] == ''
    assert len(agent.reranker.chooser.batches) == calls


def test_a_batch_says_what_its_messages_would_alone(agent):
    messages = ['1 2 3 4', '5 6', '0', '3 3 3 1']
    together = reply_to(agent, *messages)
    alone = [reply_to(agent, message)[0] for message in messages]
    assert [reply['text'] for reply in together] == [reply['text'] for reply in alone]
    assert list(map(texts, together)) == list(map(texts, alone))


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


def test_commands_are_answered_and_leave_no_trace():
    clone = make_agent(interactive_mode=True).clone()
    clone.set_interactive_mode(True)
    answers = []
    for text in ('/knowledge 4 3 2', '1 2 3 4', '/why', '/knowledge', ''):
        clone.observe({'text': text, 'episode_done': False})
        answers.append(clone.act()['text'])
    assert answers[0].endswith('stick to this: 4 3 2')
    assert answers[2].startswith('Chosen for: best ')
    assert answers[3] == 'Knowledge: 4 3 2'
    assert answers[4].startswith('Type a message')
    assert clone.history.history_raw_strings == ['1 2 3 4', answers[1]]


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
