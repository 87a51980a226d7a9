"""Answers that are quantities, compared by value."""

import pytest

from parlai_q2.claims import Evidence
from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.q2.ask import Question
from parlai_q2.q2.compare import judge
from parlai_q2.turns import Span


class Neutral:
    """Never decides."""

    settings: dict = {}

    def classify(self, pairs):
        return [NliProbabilities(0.0, 1.0, 0.0)] * len(pairs)


def compared(reference, answer, by_value):
    question = Question('How far is it?', Span(answer, 0, len(answer)))
    answers = [Evidence(0, Span(reference, 0, len(reference)))]
    (claim,) = judge([question], answers, Neutral(), by_value=by_value)
    return claim.comparison, claim.support


@pytest.mark.parametrize(
    'answer, expected',
    [
        ('26.2 miles', ('entailment', 1.0)),
        ('42.195 miles', ('contradiction', 0.0)),
        ('17 kilometres', ('contradiction', 0.0)),
    ],
)
def test_values_decide_before_nli_does(answer, expected):
    assert compared('42.195 kilometres', answer, by_value=True) == expected
    assert compared('42.195 kilometres', answer, by_value=False)[0] == 'neutral'


def test_other_answers_are_left_to_nli():
    assert compared('far away', 'near the sea', by_value=True)[0] == 'neutral'
