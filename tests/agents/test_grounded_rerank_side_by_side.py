"""Searches that take their steps together find what they find one after another."""

import pytest
import torch

from parlai_q2.agents.grounded_rerank import side_by_side
from tests.agents.rerank_toys import make_agent, reply_to

# A high temperature, since the little generator is very sure of itself.
MANY = {'candidate_strategies': 'beam:4,nucleus:8,delayedbeam:2', 'temperature': 3}
TEXTS = ('1 2 3 4', '3 3', '5 1 6 2 4')


def replies_both_ways(agent, monkeypatch, **fields):
    together = reply_to(agent, *TEXTS, **fields)
    monkeypatch.setattr(side_by_side, 'MAX_ROWS', 0)
    return together, reply_to(agent, *TEXTS, **fields)


def assert_same(together, apart):
    for reply, other in zip(together, apart, strict=True):
        assert reply['text'] == other['text']
        texts = [text for text, _ in other['beam_texts']]
        assert [text for text, _ in reply['beam_texts']] == texts
        scores = [float(score) for _, score in other['beam_texts']]
        assert [float(s) for _, s in reply['beam_texts']] == pytest.approx(
            scores, abs=1e-5
        )
        strategies = [row['strategies'] for row in other['rerank']]
        assert [row['strategies'] for row in reply['rerank']] == strategies


@pytest.mark.parametrize(
    'options',
    [
        {},
        {'beam_block_ngram': 1},
        {'beam_context_block_ngram': 2},
        {'beam_min_length': 3},
        {'label_truncate': 2},
        {'candidate_strategies': 'beam:2/6,delayedbeam:1/3'},
    ],
    ids=lambda options: next(iter(options), 'plain'),
)
def test_every_kind_of_search(options, monkeypatch):
    agent = make_agent(**{**MANY, **options})
    assert_same(*replies_both_ways(agent, monkeypatch))


def mixed_pools(agent):
    """The candidates of a batch in which the second example has no knowledge."""
    batches = []
    for text, knowledge in zip(TEXTS, ('1 2 3', None, '4 5 6'), strict=True):
        fields = {'knowledge': knowledge} if knowledge else {}
        clone = agent.clone()
        message = {'text': text, 'episode_done': True, **fields}
        batches.append(clone.observe(message))
    return [
        {row['text']: row['strategies'] for row in reply['rerank']}
        for reply in agent.batch_act(batches)
    ]


def test_each_example_of_a_mixed_batch_has_what_it_has_alone(monkeypatch):
    agent = make_agent(**MANY)
    together = mixed_pools(agent)
    (alone,) = reply_to(agent, TEXTS[2], knowledge='4 5 6')
    expected = {row['text']: row['strategies'] for row in alone['rerank']}
    assert together[2] == expected
    assert all(strategies == ['beam'] for strategies in together[1].values())
    monkeypatch.setattr(side_by_side, 'MAX_ROWS', 0)
    assert mixed_pools(agent) == together


def test_outputs_begin_with_the_tokens_that_each_must_begin_with(monkeypatch):
    agent = make_agent(candidate_strategies='beam:2,nucleus:2', temperature=3)
    begins = [agent.dict[digit] for digit in '615']
    monkeypatch.setattr(
        agent, 'get_prefix_tokens', lambda batch: torch.tensor(begins).unsqueeze(1)
    )
    for reply, digit in zip(reply_to(agent, *TEXTS), '615', strict=True):
        assert all(row['text'].startswith(digit) for row in reply['rerank'])
