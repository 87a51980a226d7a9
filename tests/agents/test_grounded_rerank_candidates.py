"""Strategies as they are written, and candidates as they are merged."""

from types import SimpleNamespace

import pytest

from parlai_q2.agents.grounded_rerank.parlai_search import collect, mean_logprob
from parlai_q2.errors import ConfigError
from parlai_q2.generate.strategies import Strategy, parse_strategies
from parlai_q2.parlai.generator import RankedBeam


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
