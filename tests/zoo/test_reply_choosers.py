"""The comparison of choosers on a reranking agent's log."""

import json

import numpy as np
import pytest

from parlai_q2.errors import InputError
from parlai_q2.zoo.train.reply_choosers import (
    FIRST,
    MEASURES,
    Judge,
    choices,
    read_turns,
    table,
)

KNOWLEDGE = 'Bees have five eyes. They tell of food by a dance.'


def row(text: str, first: bool = False, mean_logprob: float = -1.0) -> dict:
    return {'text': text, 'first': first, 'mean_logprob': mean_logprob}


@pytest.fixture
def log(tmp_path):
    """Two turns that can be compared, one with one candidate, one that begins."""
    two = [row('They have two eyes.', mean_logprob=-0.5), row('No idea!', first=True)]
    five = [row('They sing.', first=True), row('They have five eyes.')]
    asked = {'history': ['How many eyes do bees have?'], 'knowledge': KNOWLEDGE}
    turns = [
        {**asked, 'rerank': two},
        {**asked, 'rerank': five},
        {**asked, 'rerank': two[:1]},
        {'knowledge': KNOWLEDGE, 'rerank': two},
    ]
    path = tmp_path / 'log.jsonl'
    path.write_text(''.join(json.dumps(turn) + '\n' for turn in turns))
    return path


def test_turns_have_a_turn_before_and_candidates_the_first_choice_first(log):
    turns = read_turns(log)
    assert [turn.before for turn in turns] == ['How many eyes do bees have?'] * 2
    texts = [[c.text for c in turn.pool.candidates] for turn in turns]
    assert texts == [
        ['No idea!', 'They have two eyes.'],
        ['They sing.', 'They have five eyes.'],
    ]


def test_a_log_without_such_turns_is_refused(tmp_path):
    path = tmp_path / 'log.jsonl'
    path.write_text(json.dumps({'knowledge': 'k', 'rerank': [row('one')]}) + '\n')
    with pytest.raises(InputError, match='no turn with two candidates'):
        read_turns(path)


def test_each_chooser_takes_what_it_prefers(log):
    taken = choices(read_turns(log))
    assert taken[FIRST] == ['No idea!', 'They sing.']
    # Equally likely candidates keep the generator's order.
    assert taken['likelihood'] == ['They have two eyes.', 'They sing.']
    assert taken['precision'][1] == 'They have five eyes.'


class ToyJudge(Judge):
    """Words only: a reply is relevant if it speaks of eyes."""

    def __init__(self):
        pass

    def measure(self, turns, replies):
        values = {name: np.array([float(len(r)) for r in replies]) for name in MEASURES}
        values['answers'] = np.array([np.nan, 1.0])
        before = [turn.before for turn in turns]
        return {**values, 'relevance': self.likelihood(before, replies)}

    def likelihood(self, before, replies):
        return np.array([-1.0 if 'eyes' in reply else -3.0 for reply in replies])


def test_relevance_is_on_the_scale_from_another_turns_reply_to_the_first(log):
    turns = read_turns(log)
    taken = {
        FIRST: ['They have five eyes.', 'They have eyes.'],
        'other': ['They sing.', 'They have eyes.'],
    }
    # The first choices of other turns are as likely here, so they set the scale.
    judge = ToyJudge()
    judge.likelihood = lambda before, replies: np.array(
        [-1.0 if r in taken[FIRST][n : n + 1] else -3.0 for n, r in enumerate(replies)]
    )
    found = {
        (name, m): (value, diff) for name, m, value, diff in table(turns, taken, judge)
    }
    assert found[FIRST, 'relevance'][0].mean == 1
    assert found[FIRST, 'relevance'][1] is None
    assert found['other', 'relevance'][0].mean == 0.5
    assert found['other', 'relevance'][1].mean == -0.5
    # Where a measure does not apply, the turn does not count.
    assert found['other', 'answers'][0].mean == 1


def test_the_judge_measures_with_models_that_chose_nothing(log):
    turns = read_turns(log)
    found = Judge().measure(turns, ['They have five eyes.', 'They have two eyes.'])
    assert found['answers'].tolist() == [1, 1]
    assert found['words'].tolist() == [4, 4]
    assert found['grounded'][0] > found['grounded'][1]
    assert found['copied'].tolist() == pytest.approx([1, 4 / 5])
    alone = Judge().likelihood([turns[1].before], ['They have two eyes.'])
    assert alone[0] == pytest.approx(found['relevance'][1], abs=1e-4)
