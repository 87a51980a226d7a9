"""
Converts a score to the metrics that a ParlAI report shows.

The metrics follow Table 2 of Honovich et al. 2021: the mean score, the share of
responses with a question, the share of questions that the knowledge does not answer,
and the number of questions.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from parlai.core.metrics import ALL_METRICS, AverageMetric, GlobalAverageMetric, Metric

from parlai_q2.claims import GENERIC_PART, Comparison, Label, Score
from parlai_q2.intervals import Interval, share_interval
from parlai_q2.turns import Example

# Further parts of scorers that ask questions: Q2 without NLI, and end-to-end NLI.
Q2_PARTS = ('q2_f1', 'nli')
# Reported for every response, scored or not.
UNVERIFIABLE = 'unverifiable'
# The metrics that score_metrics may return for scored responses, besides the score.
OF_SCORED = (
    *(*Q2_PARTS, 'generic', 'coverage', 'questions', 'no_answer'),
    *('consistent_rate', 'consistent_rate_low', 'consistent_rate_high'),
)
# ParlAI's own metrics of a response against its label, including some it does not list.
PARLAI_METRICS = ALL_METRICS | {'precision', 'recall', 'exs'}


def metric_name(scorer: str) -> str:
    """
    The name under which a scorer's value is reported: its own, or ``knowledge_<name>``
    if ParlAI has a metric of that name.
    """
    return f'knowledge_{scorer}' if scorer in PARLAI_METRICS else scorer


class LowerBound(AverageMetric):
    """The lower end of the 95 % interval of a share."""

    def value(self) -> float:
        return _interval_of(self).low


class UpperBound(AverageMetric):
    """The upper end of the 95 % interval of a share."""

    def value(self) -> float:
        return _interval_of(self).high


def _interval_of(metric: AverageMetric) -> Interval:
    total = round(float(metric._denom))
    return share_interval(round(float(metric._numer)), total) if total else NO_INTERVAL


BOUNDS = ('consistent_rate_low', 'consistent_rate_high')
NO_INTERVAL = Interval(0.0, 0.0, 0.0)
# The share of consistent responses among the verifiable ones, with its interval.
RATE: Mapping[str, type[AverageMetric]] = {
    'consistent_rate': AverageMetric,
    **dict(zip(BOUNDS, (LowerBound, UpperBound))),
}


class _Nothing(GlobalAverageMetric):
    # Distributed runs add up the reports of their processes. Another process may have a
    # MacroAverageMetric of the same name, which reads _values of what is added to it.
    _values: Mapping[str, Metric] = {}

    def __add__(self, other: Metric | None) -> Metric:
        return self if other is None else other


def of_nothing() -> GlobalAverageMetric:
    """
    A metric for which no turn has a value. It is reported as 0, because train_model
    fails at a validation without its ``--validation-metric``, but does not count in a
    mean over tasks, nor in a sum over processes.
    """
    return _Nothing(0, 0)


def validated_by(opt: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """
    The ``--validation-metric`` if it is one of ``names``, also as ``<task>/<name>``;
    None if it is another.
    """
    validation_metric = opt.get('validation_metric') or ''
    return (
        validation_metric
        if any(f'/{validation_metric}'.endswith(f'/{name}') for name in names)
        else None
    )


def score_metrics(
    scorer: str, example: Example, score: Score, asks: bool
) -> dict[str, AverageMetric]:
    """
    The metrics of one response.

    :param scorer: the scorer's name on the command line.
    :param asks: whether it asks questions.
    :return: metrics by name. An example without knowledge or with a blank response has
        no value to average; it only counts as unverifiable.
    """
    metrics: dict[str, AverageMetric] = {
        UNVERIFIABLE: AverageMetric(int(not score.verifiable))
    }
    if score.verifiable:
        consistent = int(score.label == Label.CONSISTENT)
        for name, metric in RATE.items():
            metrics[name] = metric(consistent)
    if example.knowledge_text.strip() and example.response.strip():
        if asks:
            for part in Q2_PARTS:
                if part in score.parts:
                    metrics[part] = AverageMetric(score.parts[part])
        if GENERIC_PART in score.parts:
            metrics['generic'] = AverageMetric(int(score.label == Label.GENERIC))
        metrics[metric_name(scorer)] = AverageMetric(score.value)
        if asks:
            question_count = len(score.question_claims)
            metrics['coverage'] = AverageMetric(int(question_count > 0))
            metrics['questions'] = AverageMetric(question_count)
            if question_count:
                comparisons = [claim.comparison for claim in score.question_claims]
                unanswered = comparisons.count(Comparison.NO_ANSWER)
                metrics['no_answer'] = AverageMetric(unanswered, question_count)
    return metrics
