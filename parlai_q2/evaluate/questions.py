"""
Counts the questions that Q2 asked, the share of them that the knowledge does not
answer, and coverage: the share of responses with at least one question (Honovich et al.
2021, Tables 2 and 8).
"""

from typing import NamedTuple, Optional, Sequence

from parlai_q2.evaluate.measure import Measure, Scored
from parlai_q2.records import Comparison


class Questions(NamedTuple):
    """
    Counts over a set of scored responses.

    :param responses: how many responses were scored.
    :param questions: how many questions were asked about them.
    :param no_answer: share of the questions that the knowledge does not answer, in
        [0, 1]; None without questions.
    :param coverage: share of the responses with a question, in [0, 1]; None without
        responses.
    """

    responses: int
    questions: int
    no_answer: Optional[float]
    coverage: Optional[float]


def questions(measure: Measure, responses: Sequence[Scored]) -> Questions:
    """
    Count a measure's questions.

    :param measure: the measure.
    :param responses: responses that it has scored.
    """
    scores = [measure.score(r) for r in responses]
    answers = [v.comparison != Comparison.NO_ANSWER for s in scores for v in s.verdicts]
    return Questions(
        len(scores),
        len(answers),
        answers.count(False) / len(answers) if answers else None,
        sum(bool(s.verdicts) for s in scores) / len(scores) if scores else None,
    )
