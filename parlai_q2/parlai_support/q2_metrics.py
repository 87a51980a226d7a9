"""
Turns a score into the metrics that a ParlAI report shows.

The names follow Table 2 of Honovich et al. 2021: the mean score, the share of responses
with a question, the share of questions the knowledge does not answer, and how many
questions there were.
"""

from parlai.core.metrics import ALL_METRICS, AverageMetric, GlobalAverageMetric

from parlai_q2.records import Comparison, Example, Label, Score

# Scorers that ask questions, so that their verdicts can be counted.
QUESTION_SCORERS = ('q2', 'q2_f1', 'grounded')
# What they give beside their value: Q2 without NLI, and end-to-end NLI.
Q2_PARTS = ('q2_f1', 'nli')
# Of every response, scored or not.
UNVERIFIABLE = 'unverifiable'
# The part by which a scorer shows that it knows generic responses.
GENERIC_PART = 'generic'
# Of scored responses, besides the score itself: what score_metrics may give.
OF_SCORED = (*Q2_PARTS, 'generic', 'coverage', 'questions', 'no_answer')
# ParlAI's own metrics of a response against its label, besides those it lists.
PARLAI_METRICS = ALL_METRICS | {'precision', 'recall', 'exs'}


def metric_name(scorer: str) -> str:
    """
    The name under which a scorer's value is reported.

    :param scorer: the scorer's name.
    :return: the same, or ``knowledge_<name>`` where ParlAI has a metric of that name.
    """
    return f'knowledge_{scorer}' if scorer in PARLAI_METRICS else scorer


def of_nothing() -> GlobalAverageMetric:
    """
    A metric of which no turn has a value: 0. train_model ends at a validation whose
    ``--validation-metric`` is missing.

    :return: a global one, which has no part in a mean over tasks: there it gives way to
        the values of the others.
    """
    return GlobalAverageMetric(0, 0)


def score_metrics(
    scorer: str, example: Example, score: Score, asks: bool
) -> dict[str, AverageMetric]:
    """
    The metrics of one response.

    :param scorer: the scorer's name on the command line.
    :param example: what was scored.
    :param score: what the scorer said of it.
    :param asks: whether the scorer asks questions.
    :return: metrics by name. An example without knowledge or without words has no value
        to average; it is only counted, as unverifiable.
    """
    metrics = {UNVERIFIABLE: AverageMetric(int(not score.verifiable))}
    if example.knowledge.strip() and example.response.strip():
        if asks:
            for part in Q2_PARTS:
                if part in score.parts:
                    metrics[part] = AverageMetric(score.parts[part])
        if GENERIC_PART in score.parts:
            metrics['generic'] = AverageMetric(int(score.label == Label.GENERIC))
        metrics[metric_name(scorer)] = AverageMetric(score.value)
        if asks:
            asked = len(score.verdicts)
            metrics['coverage'] = AverageMetric(int(asked > 0))
            metrics['questions'] = AverageMetric(asked)
            if asked:
                metrics['no_answer'] = AverageMetric(_unanswered(score), asked)
    return metrics


def _unanswered(score: Score) -> int:
    return sum(v.comparison == Comparison.NO_ANSWER for v in score.verdicts)
