"""One task under several conditions of knowledge, in one table."""

import json

import pytest

from parlai_q2.errors import ConfigError
from parlai_q2.scripts.conditions import (
    ConditionsScript,
    has_gold_passage,
    parse_conditions,
)
from parlai_q2.turns import Passage
from tests.agents.rerank_toys import AGENT, TASK, TOY, trained_generator
from tests.files import read_lines


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
    gold, retrieved, repeated = table.rows
    assert [row['condition'] for row in table.rows] == ['given', 'bm25', 'again']
    # Three of the ten turns have no knowledge of their own.
    assert gold['turns'] == retrieved['turns'] == 10
    assert gold['recall'].mean == 1.0
    assert 0 < retrieved['recall'].mean <= 1
    assert {**repeated, 'condition': 'bm25'} == retrieved
    assert json.loads(outfile.read_text())['rows'][0]['condition'] == 'given'
    replies = read_lines(outfile.with_suffix('.replies.jsonl'))
    assert len(replies) == 30
    gold_replies = [
        reply for reply in replies if reply['condition'] == 'given' and reply['known']
    ]
    assert len(gold_replies) == 7
    assert all(reply['found'] == reply['known'] for reply in gold_replies)
    # What the task gives is not shown where an index takes its place.
    searched = [reply for reply in replies if reply['condition'] == 'bm25']
    assert any(reply['found'] and not reply['known'] for reply in searched)


@pytest.mark.parametrize('text', ['', 'nothing', 'given,given', 'mine='])
def test_conditions_that_are_none_are_refused(text):
    with pytest.raises(ConfigError):
        parse_conditions(text)


def test_a_passage_is_found_with_what_is_around_it():
    knowledge = [Passage('Bees hum. They have five eyes.')]
    assert has_gold_passage(knowledge, [Passage('they have five eyes')])
    assert not has_gold_passage(knowledge, [Passage('Six eyes.')])
    assert not has_gold_passage([], [Passage('Six eyes.')])
