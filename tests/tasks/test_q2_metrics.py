"""From scores to metrics, against values worked out by hand."""

import pytest

from parlai_q2.claims import Comparison, Label, Score
from parlai_q2.parlai.q2_teacher import metric_name, score_metrics
from parlai_q2.turns import Example, Span
from tests.evidence import asked

EXAMPLE = Example('knowledge', 'response')


def claim(comparison):
    return asked('Who?', Span('r', 0, 1), None, comparison)


def values(*scores, scorer='q2', asks=True, example=EXAMPLE):
    """The report over several responses."""
    total = {}
    for score in scores:
        for name, metric in score_metrics(scorer, example, score, asks).items():
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
