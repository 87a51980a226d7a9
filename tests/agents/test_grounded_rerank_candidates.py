"""Candidates: strategies, what a search gives, and names that replies begin with."""

from types import SimpleNamespace

import pytest
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser

from parlai_q2.agents.grounded_rerank.parlai_search import (
    beginning_tokens,
    collect,
    mean_logprob,
)
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import Strategy, parse_strategies
from parlai_q2.parlai.generator import RankedBeam
from parlai_q2.rerank.guards.subject import UnnamedGuard
from tests.agents.hf_models import AGENT as HF
from tests.agents.hf_models import LESSONS, checkpoint
from tests.agents.rerank_toys import AGENT, make_agent, reply_to


@pytest.mark.parametrize(
    'text, expected',
    [
        ('beam:4,nucleus:3', [Strategy('beam', 4), Strategy('nucleus', 3)]),
        (' beam , nucleus:2 ', [Strategy('beam', 1), Strategy('nucleus', 2)]),
        (
            'beam:4/10,delayedbeam:3/3',
            [Strategy('beam', 4, 10), Strategy('delayedbeam', 3, 3)],
        ),
        (
            'nucleus:3/p=0.8,delayedbeam:2/7/k=20/delay=4',
            [
                Strategy('nucleus', 3, p=0.8),
                Strategy('delayedbeam', 2, 7, k=20, delay=4),
            ],
        ),
        ('nucleus:3/p=0.9', [Strategy('nucleus', 3)]),
    ],
)
def test_strategies_are_read_in_order(text, expected):
    assert parse_strategies(text) == expected
    assert parse_strategies(','.join(map(str, expected))) == expected


@pytest.mark.parametrize(
    'text, width',
    [
        # Santhanam et al. 2021: beam search and delayed beam search with 5.
        ('beam:4', 5),
        ('delayedbeam:3', 5),
        ('beam:7', 7),
        ('beam:4/10', 10),
        ('delayedbeam:3/3', 3),
        ('nucleus:3', 3),
    ],
)
def test_a_beam_is_five_wide_as_in_the_paper_unless_it_is_said(text, width):
    (strategy,) = parse_strategies(text)
    assert strategy.width == width


@pytest.mark.parametrize(
    'text, says',
    [
        ('', 'is empty'),
        ('beams:3', "Did you mean 'beam'"),
        ('beam:0', 'from 1'),
        ('beam:many', 'from 1'),
        ('beam:2,beam:3', 'twice'),
        ('beam:4/3', 'at least the number'),
        ('beam:4/', 'beam:4/10'),
        ('nucleus:3/5', 'beam or delayedbeam'),
        ('beam:4/8/9', 'after the slash'),
        ('nucleus:3/k=5', "no setting 'k'. It has p"),
        ('beam:3/p=0.5', "no setting 'p'. Its width"),
        ('nucleus:3/p=1.5', 'at most 1'),
        ('nucleus:3/p=many', "not 'many'"),
        ('delayedbeam:3/delay=0', 'from 1'),
        ('delayedbeam:3/k=2.5', 'from 1'),
    ],
)
def test_a_strategy_that_cannot_be_read_says_how_it_is_written(text, says):
    with pytest.raises(ConfigError, match=says):
        parse_strategies(text)


def test_a_search_gives_no_more_than_was_asked_for():
    found = [
        (['s', 'x'], -1.0, None),
        (['s', 'y'], -2.0, None),
        (['s', 'z'], -3.0, None),
    ]
    texts = {'x': 'X', 'y': 'Y', 'z': 'Z'}
    words = SimpleNamespace(
        null_token='__null__', start_token='__start__',
        end_token='__end__', unk_token='__unk__',
    )  # fmt: skip
    agent = SimpleNamespace(opt={}, dict=words, _v2t=lambda tokens: texts[tokens[-1]])
    pool = collect(agent, [RankedBeam(found)], Strategy('beam', 2))
    assert [c.text for c in pool] == ['X', 'Y']
    assert [c.source for c in pool] == found[:2]
    # Tokens that are no text are passed over.
    del texts['x']
    pool = collect(agent, [RankedBeam(found)], Strategy('beam', 2))
    assert [c.text for c in pool] == ['Y', 'Z']
    # Special tokens alone say nothing.
    texts.update(x='__unk__ __null__', y='Y __unk__')
    pool = collect(agent, [RankedBeam(found)], Strategy('beam', 2))
    assert [c.text for c in pool] == ['', 'Y __unk__']


def test_the_mean_log_probability_undoes_the_length_penalty():
    # Start, three words and end: four tokens that cost, 5 in ParlAI's penalty.
    total, length, penalty = -6.0, 5, 0.65
    score = total / ((1 + length) / 6) ** penalty
    assert mean_logprob(score, length, penalty) == pytest.approx(-1.5)
    score = total / ((1 + 11) / 6) ** penalty
    assert mean_logprob(score, 11, penalty) == pytest.approx(-0.6)


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
