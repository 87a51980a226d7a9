"""The Q2 teacher in every world that ParlAI evaluates in."""

import pytest

from tests.tasks.evaluating import (
    MODELS,
    SAMPLE,
    TURNS,
    evaluate,
    logged,
    make_world,
    run,
    texts,
)
from tests.tasks.recording import NAME


@pytest.mark.parametrize('batchsize', [8, 100])
def test_any_batchsize_gives_the_report_of_batchsize_1(batchsize):
    alone, batched = evaluate(batchsize=1), evaluate(batchsize=batchsize)
    assert batched == pytest.approx(alone)


@pytest.mark.parametrize(
    'batching, model', [('full', 'EchoAgent'), ('batchsort', 'PlainDictAgent')]
)
def test_dynamic_batching_scores_every_response_once(made, tmp_path, batching, model):
    log = tmp_path / 'log.jsonl'
    report = evaluate(
        model=MODELS + model,
        batchsize=8,
        dynamic_batching=batching,
        truncate=64,
        world_logs=str(log),
        log_keep_fields='text,metrics,q2_evidence',
    )
    assert report == pytest.approx(evaluate(model=MODELS + model))
    assert texts(made[0]) == texts(made[1])
    turns = logged(log)
    assert len(turns) == TURNS
    assert all(t[1]['q2_evidence']['label'] for t in turns)
    assert all(NAME in t[1]['metrics'] for t in turns)


def test_tasks_that_are_mixed_in_one_world_are_reported_each(made):
    tasks = [f'{SAMPLE}:ConsistentTeacher', f'{SAMPLE}:InconsistentTeacher']
    report = run(make_world(task=','.join(tasks), batchsize=8))
    assert sum(sum(texts(scorer).values()) for scorer in made) == 28 + 42
    assert report[f'{tasks[0]}/{NAME}'] > report[f'{tasks[1]}/{NAME}']
    assert report[f'{tasks[0]}/exs'] == 28
    assert report[f'{tasks[1]}/exs'] == 42
