"""One task under several conditions of knowledge, in one table."""

import json

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.scripts.conditions import ConditionsScript, conditions_of, holds
from parlai_q2.turns import Passage
from tests.agents.rerank_toys import AGENT, TASK, TOY, trained_generator


def test_given_and_found_knowledge_are_compared(tmp_path):
    outfile = tmp_path / 'conditions.json'
    table = ConditionsScript.main(
        model=AGENT,
        model_file=trained_generator(),
        task=TASK,
        datatype='valid',
        choose=TOY,
        measure='overlap',
        conditions='given,bm25,again=' + str(tmp_path / 'conditions.bm25'),
        outfile=str(outfile),
    )
    given, found, again = table.rows
    assert [row['condition'] for row in table.rows] == ['given', 'bm25', 'again']
    # Three of the ten turns have no knowledge of their own.
    assert given['turns'] == found['turns'] == 10
    assert given['recall'].mean == 1.0
    assert 0 < found['recall'].mean <= 1
    assert {k: v for k, v in again.items() if k != 'condition'} == {
        k: v for k, v in found.items() if k != 'condition'
    }
    assert json.loads(outfile.read_text())['rows'][0]['condition'] == 'given'
    lines = outfile.with_suffix('.replies.jsonl').read_text().splitlines()
    replies = [json.loads(line) for line in lines]
    assert len(replies) == 30
    own = [one for one in replies if one['condition'] == 'given' and one['known']]
    assert len(own) == 7
    assert all(one['found'] == one['known'] for one in own)
    # What the task gives is not shown where an index takes its place.
    searched = [one for one in replies if one['condition'] == 'bm25']
    assert any(one['found'] and not one['known'] for one in searched)


@pytest.mark.parametrize('text', ['', 'nothing', 'given,given', 'mine='])
def test_conditions_that_are_none_are_refused(text):
    with pytest.raises(ConfigError):
        conditions_of(text)


def test_a_passage_is_found_with_what_is_around_it():
    found = [Passage('Bees hum. They have five eyes.')]
    assert holds(found, [Passage('they have five eyes')])
    assert not holds(found, [Passage('Six eyes.')])
    assert not holds([], [Passage('Six eyes.')])
