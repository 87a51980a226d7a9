"""The metrics of evaluations of the reranking agent, also under several conditions."""

import json

import pytest
from parlai.core.metrics import dict_report
from parlai.scripts.eval_model import EvalModel
from parlai.utils import logging

from parlai_q2 import load_scorer
from parlai_q2.agents.grounded_rerank.metrics import compute_metrics
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.parlai.q2_teacher import share_detector
from parlai_q2.rerank import Candidate, Pool, Reranker, Rule
from parlai_q2.rerank.guards import GUARD_NAMES
from parlai_q2.scripts.conditions import (
    ConditionsScript,
    has_gold_passage,
    parse_conditions,
)
from parlai_q2.turns import Passage
from tests.agents.rerank_toys import AGENT, TASK, TOY, trained_generator
from tests.files import read_lines, write_lines
from tests.rerank.toys import ToyScorer, pool

FILE = 'parlai_q2.tasks.grounded_file.agents'


def evaluate(tmp_path, turns, **options):
    """The report on an episode of which each turn is a text and its other fields."""
    messages = [
        [{'id': 'task', 'text': text, **fields}, {'id': 'model', 'text': label}]
        for text, label, fields in turns
    ]
    path = write_lines(tmp_path / 'turns.jsonl', {'dialog': messages})
    report = EvalModel.main(
        model=AGENT,
        model_file=trained_generator(),
        task=FILE,
        jsonfile_datapath=str(path),
        datatype='valid',
        guards=False,
        **{'choose': TOY, 'measure': 'precision', 'explain': 'none', **options},
    )
    return dict_report(report)


EPISODE = [('1 2 3', '1 2 3', {'knowledge': '1 2'})]


def test_the_measure_is_of_a_scorer_that_did_not_choose(tmp_path):
    report = evaluate(tmp_path, EPISODE, choose='overlap')
    # Two of three words are known: a precision of 2 / 3, an F1 of 4 / 5.
    assert report['knowledge_precision'] == pytest.approx(2 / 3)
    assert report['rerank/chosen'] == pytest.approx(4 / 5)
    assert report['circular'] == 0


def test_the_same_scorer_for_both_is_circular_and_warned_of(tmp_path, monkeypatch):
    warnings = []
    monkeypatch.setattr(logging, 'warning', lambda text, *_: warnings.append(text))
    options = {'choose': 'overlap', 'measure': 'overlap', 'choose_threshold': 0.7}
    report = evaluate(tmp_path, EPISODE, **options)
    assert report['circular'] == 1
    assert any('circular' in text for text in warnings)


@pytest.mark.parametrize(
    'measure, shares', [('q2', True), ('spans', True), ('q2_f1', False)]
)
def test_scorers_with_one_detector_are_told(measure, shares):
    scorers = load_scorer(measure), load_scorer('grounded_fast')
    assert share_detector(*scorers) is shares


def test_each_role_has_its_own_threshold(tmp_path):
    thresholds = {'choose_threshold': 0.9, 'measure_threshold': 0.1}
    logs = {'world_logs': str(tmp_path / 'log')}
    evaluate(tmp_path, EPISODE, choose='overlap', **thresholds, **logs)
    (conversation,) = read_lines(tmp_path / 'log.jsonl')
    ((_, reply),) = conversation['dialog']
    assert reply['rerank'][0]['label'] == 'inconsistent'
    assert reply['q2_evidence']['label'] == 'consistent'


def test_a_teacher_finds_the_knowledge_that_the_agent_finds(tmp_path):
    turns = [('1 2|3 4', '3 4', {}), ('1 2', '1 2', {})]
    report = evaluate(tmp_path, turns, knowledge_delimiter='|')
    assert report['unverifiable'] == report['rerank/unverifiable'] == 0
    passage = tmp_path / 'passage.txt'
    passage.write_text('1 2', encoding='utf-8')
    report = evaluate(tmp_path, turns[1:], knowledge_file=str(passage))
    assert report['unverifiable'] == report['rerank/unverifiable'] == 0
    assert evaluate(tmp_path, turns[1:])['unverifiable'] == 1


def total(values):
    """What ParlAI adds up: it leaves out what is None."""
    present = [value for value in values if value is not None]
    return sum(present[1:], present[0]) if present else None


def test_metrics_are_means_over_the_turns_where_they_mean_something():
    pools = [
        pool('red blue', 'green', 'red', 'red green'),  # first 0, chosen 1
        pool('red blue', 'red', 'green'),  # first 1, chosen 1
        pool('red', 'hello', 'hello hello'),  # nothing to verify
        pool('', 'a'),
    ]
    metrics = compute_metrics(
        Reranker(ToyScorer(), Rule(abstain_below=0.2)).rank_batch(pools)
    )
    assert {len(values) for values in metrics.values()} == {4}
    assert [v is None for v in metrics['rerank/chosen']] == [False, False, True, True]
    # Relevance was not read, so its metrics have no values.
    sums = {name: total(values) for name, values in metrics.items()}
    means = {name: value.value() for name, value in sums.items() if value is not None}
    assert sums.keys() - means.keys() == {'rerank/relevance', 'rerank/answers'}
    assert means == pytest.approx(
        {
            'rerank/chosen': 1.0,
            'rerank/first': 0.5,
            'rerank/gain': 0.5,
            'rerank/oracle': 1.0,
            'rerank/distinct': (3 + 2 + 2 + 1) / 4,
            'rerank/empty': 0.0,
            # Only a greeting passes where nothing can be verified.
            'rerank/abstained': 0.25,
            'rerank/unverifiable': 0.5,
            # Of three turns with knowledge, one has nothing but greetings.
            'rerank/generic': 1 / 3,
            # No other guard holds: "red" is shorter than a copy has to be.
            **{f'rerank/{name}': 0.0 for name in GUARD_NAMES if name != 'generic'},
        }
    )


def test_a_ready_reply_is_not_what_the_generator_wrote():
    quote = Candidate('red', strategies=('document',))
    pools = [Pool('red blue', [quote])]
    metrics = compute_metrics(Reranker(ToyScorer()).rank_batch(pools))
    assert [metrics[f'rerank/{n}'] for n in ('chosen', 'empty')] == [[1], [1]]
    assert [metrics[f'rerank/{n}'] for n in ('first', 'gain')] == [[None], [None]]


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


def test_an_outfile_is_checked_before_any_reply(tmp_path):
    with pytest.raises(InputError, match='is a folder'):
        ConditionsScript.main(model=AGENT, task=TASK, outfile=str(tmp_path))


@pytest.mark.parametrize('text', ['', 'nothing', 'given,given', 'mine='])
def test_conditions_that_are_none_are_refused(text):
    with pytest.raises(ConfigError):
        parse_conditions(text)


def test_a_passage_is_found_with_what_is_around_it():
    knowledge = [Passage('Bees hum. They have five eyes.')]
    assert has_gold_passage(knowledge, [Passage('they have five eyes')])
    assert not has_gold_passage(knowledge, [Passage('Six eyes.')])
    assert not has_gold_passage([], [Passage('Six eyes.')])
