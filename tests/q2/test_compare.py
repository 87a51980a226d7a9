"""The comparison of two answers, row by row of the paper's rules."""

import pytest

from parlai_q2.claims import Comparison, Evidence
from parlai_q2.models.nli_types import NliProbabilities
from parlai_q2.q2.compare import Question, judge
from parlai_q2.turns import Span
from tests.toys import ToyNliModel

QUESTION = 'Where were the Red Hot Chili Peppers formed?'


def spanned(text):
    return Span(text, 0, len(text))


def known(text):
    return None if text is None else Evidence(0, spanned(text))


def judged(response_answer, knowledge_answer, label=None, use_nli=True):
    labels = {}
    if label:
        premise = f'{QUESTION} {knowledge_answer}.'
        labels[premise, f'{QUESTION} {response_answer}.'] = label
    nli = ToyNliModel(labels)
    question = Question(QUESTION, spanned(response_answer))
    nli_model = nli if use_nli else None
    (claim,) = judge([question], [known(knowledge_answer)], nli_model)
    return claim, nli


@pytest.mark.parametrize(
    'response, knowledge, nli, comparison, score',
    [
        ('la', None, None, Comparison.NO_ANSWER, 0),
        ('the LA', 'in la', None, Comparison.EXACT, 1),
        ('la', 'Los Angeles', 'entailment', Comparison.ENTAILMENT, 1),
        ('san diego', 'Los Angeles', 'contradiction', Comparison.CONTRADICTION, 0),
        ('los feliz', 'Los Angeles', 'neutral', Comparison.NEUTRAL, 0.5),
        ('los feliz', 'Los Angeles', 'generic', Comparison.NEUTRAL, 0.5),
    ],
)
def test_judge_with_nli(response, knowledge, nli, comparison, score):
    claim, model = judged(response, knowledge, nli)
    assert (claim.comparison, claim.support) == (comparison, pytest.approx(score))
    # Asked only when it matters.
    assert model.calls == ([1] if nli else [0])
    claim, model = judged(response, knowledge, use_nli=False)
    f1 = {Comparison.NO_ANSWER: 0, Comparison.EXACT: 1}.get(comparison, claim.f1)
    assert claim.support == f1
    assert model.calls == []


@pytest.mark.parametrize(
    'response, knowledge, probabilities, comparison, score',
    [
        # 0.7 + 0.2 / 2: the word is the likeliest class's, the score is not 1.
        ('la', 'Los Angeles', (0.7, 0.2, 0.1, 0), Comparison.ENTAILMENT, 0.8),
        # Half of neutral and of generic, whatever the token F1 (here 1/2).
        ('los feliz', 'Los Angeles', (0.1, 0.5, 0.2, 0.2), Comparison.NEUTRAL, 0.45),
        ('la', 'San Diego', (0.2, 0.2, 0.6, 0), Comparison.CONTRADICTION, 0.3),
    ],
)
def test_soft_scores_are_the_probability_of_entailment_and_half_of_neutral(
    response, knowledge, probabilities, comparison, score
):
    class Unsure:
        def classify(self, pairs):
            return [NliProbabilities(*probabilities) for _ in pairs]

    question = Question(QUESTION, spanned(response))
    (claim,) = judge([question], [known(knowledge)], Unsure(), soft=True)
    assert (claim.comparison, claim.support) == (comparison, pytest.approx(score))


def test_an_expected_value_is_one_at_most():
    # Softmax in single precision: a sum of a little more than 1.
    assert NliProbabilities(1.0, 7.6e-9, 0.0).expected(0.5) == 1.0


@pytest.mark.parametrize(
    'probabilities, label',
    [
        ((0.3, 0.1, 0.6, 0.0), 'contradiction'),
        ((0.3, 0.4, 0.3, 0.0), 'neutral'),
        ((0.3, 0.1, 0.2, 0.4), 'neutral'),
        ((0.5, 0.5, 0.0, 0.0), 'neutral'),
    ],
)
def test_the_likeliest_class_where_generic_counts_as_neutral(probabilities, label):
    assert NliProbabilities(*probabilities).label == label


@pytest.mark.parametrize(
    'comparison, f1, status, stance',
    [
        (Comparison.ENTAILMENT, 0.25, 'supported', 'for'),
        (Comparison.CONTRADICTION, 0.6, 'contradicted', 'against'),
        # Nothing but the tokens: above the paper's threshold of 0.5 it is supported.
        (Comparison.NEUTRAL, 0.67, 'supported', 'for'),
        (Comparison.NEUTRAL, 0.5, 'unsupported', 'neither'),
    ],
)
def test_a_claim_has_one_status_and_its_answer_a_stance(
    comparison, f1, status, stance, monkeypatch
):
    monkeypatch.setattr('parlai_q2.q2.compare.token_f1', lambda *_: f1)
    question = Question('Who?', spanned('a b c'))

    class Says:
        def classify(self, pairs):
            classes = ('entailment', 'neutral', 'contradiction')
            return [NliProbabilities(*(float(c == comparison) for c in classes))]

    (claim,) = judge([question], [known('b c d')], Says())
    assert (claim.status, claim.answer.stance) == (status, stance)
    assert (claim.f1, claim.answer.span.text) == (f1, 'b c d')


def test_what_has_no_answer_has_no_evidence():
    (claim,) = judge([Question('Who?', spanned('a'))], [None], None)
    assert (claim.status, claim.evidence, claim.answer) == ('unsupported', (), None)


@pytest.mark.parametrize(
    'answer, reference, expected',
    [
        ('26.2 miles', '42.195 kilometres', ('entailment', 1.0)),
        ('42.195 miles', '42.195 kilometres', ('contradiction', 0.0)),
        ('17 kilometres', '42.195 kilometres', ('contradiction', 0.0)),
        # What is no amount is left to NLI.
        ('near the sea', 'far away', ('neutral', 0.0)),
    ],
)
def test_amounts_are_compared_by_value_before_nli_decides(answer, reference, expected):
    question, nli = Question('How far is it?', spanned(answer)), ToyNliModel({})
    (claim,) = judge([question], [known(reference)], nli, by_value=True)
    assert (claim.comparison, claim.support) == expected
    (claim,) = judge([question], [known(reference)], nli)
    assert claim.comparison == 'neutral'
