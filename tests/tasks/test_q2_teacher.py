"""The Q2 teacher: metrics, evidence, options, and every world of an evaluation."""

import pytest

from parlai_q2.claims import Comparison, Label, Score
from parlai_q2.parlai import q2_teacher
from parlai_q2.parlai.q2_teacher import metric_name, score_metrics
from parlai_q2.turns import Example, Span
from tests.evidence import asked
from tests.tasks.evaluating import (
    MODELS,
    Q2_METRICS,
    SAMPLE,
    TURNS,
    evaluate,
    logged,
    make_world,
    run,
    texts,
)
from tests.tasks.recording import NAME


@pytest.mark.parametrize(
    'batchsize, model, keep',
    [
        (1, 'repeat_label', 'all'),
        (16, 'random_candidate', 'text,metrics,q2_evidence,q2_label'),
    ],
)
def test_world_logs_hold_each_score_with_its_evidence(tmp_path, batchsize, model, keep):
    log = tmp_path / 'log.jsonl'
    report = evaluate(
        model=model, batchsize=batchsize, world_logs=str(log), log_keep_fields=keep
    )
    assert set(Q2_METRICS) < set(report)
    assert (report['f1'] == 1) == (model == 'repeat_label')
    turns = logged(log)
    assert len(turns) == report['exs'] == TURNS
    values = [model_turn['metrics'][NAME] for _, model_turn in turns]
    assert sum(values) / TURNS == pytest.approx(report[NAME])
    for value, (question, reply) in zip(values, turns):
        assert reply['q2_evidence']['score'] == value
        assert question['q2_label'] in ('consistent', 'inconsistent', 'generic')
        assert reply['q2_evidence']['kind'] == 'score'
        for claim in reply['q2_evidence']['claims']:
            start, end = claim['span']
            assert reply['text'][start:end] == claim['text']


def test_a_model_that_gives_no_text_has_no_score(made):
    report = evaluate(model=MODELS + 'SilentAgent', batchsize=8)
    assert report['exs'] == TURNS
    assert NAME not in report
    assert not made[0].calls


@pytest.mark.parametrize('batchsize', [1, 8])
def test_missing_texts_are_skipped_and_empty_ones_unverifiable(made, batchsize):
    report = evaluate(model=MODELS + 'OftenSilentAgent', batchsize=batchsize)
    reply_texts = texts(made[0])
    assert reply_texts[''] > 0
    assert sum(reply_texts.values()) < TURNS
    assert report['unverifiable'] == pytest.approx(
        reply_texts[''] / sum(reply_texts.values())
    )


def test_turns_without_knowledge_are_counted_and_not_averaged(monkeypatch):
    warned = []
    monkeypatch.setattr(q2_teacher, 'warn_once', warned.append)
    world = make_world()
    teacher, _ = world.agents
    for turn, knowledge in enumerate(['', 'no_passages_used', None, 'It is a planet.']):
        act = teacher.act()
        act.force_set('checked_sentence', knowledge)
        act.force_set('knowledge', knowledge)
        teacher.observe({'id': 'm', 'text': 'it is a planet'})
        report = {k: v.value() for k, v in teacher.report().items()}
        assert report['unverifiable'] == (1 if turn < 3 else 0.75)
        # Of nothing, but there: train_model looks it up after every validation.
        assert report[NAME] == (1 if turn == 3 else 0)
    # It asks after every batch, so a first one without knowledge says nothing of all.
    assert len(warned) == 3
    assert all('so far' in w and 'Until' in w for w in warned)


@pytest.mark.parametrize(
    'datatype, scored',
    [
        ('train', False),
        ('train:stream', False),
        ('train:ordered', False),
        ('train:evalmode', True),
        ('valid', True),
        ('test:stream', True),
    ],
)
def test_only_evaluation_is_scored(made, datatype, scored):
    world = make_world(datatype=datatype)
    world.parley()
    assert sum(len(scorer.calls) for scorer in made) == int(scored)
    assert (NAME in world.report()) == scored


def test_scoring_can_be_turned_off(made):
    assert NAME not in evaluate(q2_metrics=False)
    assert not made


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


EXAMPLE = Example('knowledge', 'response')


def claim(comparison):
    return asked('Who?', Span('r', 0, 1), None, comparison)


def values(*scores, scorer='q2', asks=True):
    """The report over several responses."""
    total = {}
    for score in scores:
        for name, metric in score_metrics(scorer, EXAMPLE, score, asks).items():
            total[name] = total.get(name) + metric
    return {name: metric.value() for name, metric in total.items()}


WITH_QUESTION = Score(
    0.5,
    Label.INCONSISTENT,
    (claim(Comparison.EXACT), claim(Comparison.NO_ANSWER)),
    parts={'q2_f1': 0.25, 'nli': 1.0},
)
ASKED_MORE = Score(
    1.0,
    Label.CONSISTENT,
    tuple(claim(Comparison.ENTAILMENT) for _ in range(4)),
    parts={'q2_f1': 0.75, 'nli': 0.5},
)
# No valid question, and the end-to-end NLI model says neutral.
FELL_BACK = Score(
    0.5, Label.NOT_VERIFIABLE, fallback=True, parts={'q2_f1': 0.5, 'nli': 0.5}
)


def test_scores_are_averaged_over_responses_and_no_answer_over_questions():
    assert values(WITH_QUESTION, ASKED_MORE, FELL_BACK) == pytest.approx(
        {
            'q2': 2 / 3,
            'q2_f1': 0.5,
            'nli': 2 / 3,
            'coverage': 2 / 3,
            'questions': 2,
            'no_answer': 1 / 6,
            'unverifiable': 1 / 3,
            # Of two verifiable responses one is consistent.
            'consistent_rate': 0.5,
            'consistent_rate_low': 0.0945,
            'consistent_rate_high': 0.9055,
        },
        abs=1e-4,
    )


def test_a_scorer_without_questions_reports_its_value_alone():
    score = Score(0.25, Label.INCONSISTENT, parts={'f1': 0.25, 'precision': 1.0})
    report = values(score, scorer='overlap', asks=False)
    rate = {'consistent_rate': 0, 'consistent_rate_low': 0}
    assert report.pop('consistent_rate_high') == pytest.approx(0.7935, abs=1e-4)
    assert report == {'overlap': 0.25, 'unverifiable': 0, **rate}


@pytest.mark.parametrize(
    'scorer, name',
    [
        ('q2', 'q2'),
        ('consistency', 'consistency'),
        # ParlAI has metrics of these names, of the response against its label.
        ('precision', 'knowledge_precision'),
        ('f1', 'knowledge_f1'),
        ('bleu-4', 'knowledge_bleu-4'),
    ],
)
def test_parlais_own_metrics_are_not_overwritten(scorer, name):
    assert metric_name(scorer) == name
