"""Answers in context: a claim is also supported by its sentence, or is not."""

import pytest

from parlai_q2.claims import Comparison, Label, Status
from parlai_q2.q2.metric import Q2Models
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.scorers.registry import load_scorer
from parlai_q2.turns import Example, Span
from tests.toys import ToyNliModel, ToyQuestionAnswerer, ToyQuestionGenerator

KNOWLEDGE = 'Bees have five eyes.'
ANSWERS = {'How many eyes?': ['five', 'five'], 'Who?': ['Ants']}


def score(response, readings, **settings):
    def find_spans(responses):
        return [
            [Span(t, r.find(t), r.find(t) + len(t)) for t in ('five', 'Ants') if t in r]
            for r in responses
        ]

    models = Q2Models(
        ToyQuestionGenerator({'five': ['How many eyes?'], 'Ants': ['Who?']}),
        ToyQuestionAnswerer(ANSWERS),
        ToyNliModel({(KNOWLEDGE.lower(), text): v for text, v in readings.items()}),
        find_spans,
    )
    scorer = Q2Scorer(models, Q2Settings(**{'in_context': True, **settings}))
    return scorer.score([Example(KNOWLEDGE, response)])[0]


S, U, C = Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED


@pytest.mark.parametrize(
    'response, readings, value, statuses',
    [
        ('They have five.', {'they have five.': 'entailment'}, 1, [S]),
        # A negation, which the same answer does not show.
        ('They lack five.', {'they lack five.': 'contradiction'}, 1 / 3, [C]),
        # Without an answer to the question, the sentence decides.
        ('Ants do not.', {'ants do not.': 'entailment'}, 2 / 3, [S]),
        # A sentence without a question counts, unless it states nothing.
        (
            'They have five. They sting.',
            {'they have five.': 'entailment', 'they sting.': 'neutral'},
            0.5,
            [S, U],
        ),
        ('They have five. Wow!', {'they have five.': 'entailment'}, 1, [S]),
    ],
)
def test_claims_are_judged_with_their_sentences(response, readings, value, statuses):
    scored = score(response, readings)
    assert scored.value == pytest.approx(value)
    assert [claim.status for claim in scored.claims] == statuses


def test_the_papers_settings_and_f1_compare_answers_alone():
    readings = {'they lack five.': 'contradiction'}
    assert score('They lack five.', readings, in_context=False).value == 1
    without = score('They lack five.', readings, use_nli=False)
    assert without.value == 1
    assert without.claims[0].comparison == Comparison.EXACT


def test_what_states_nothing_is_generic():
    scored = score('ok!', {'ok!': 'entailment'})
    assert (scored.label, scored.value) == (Label.GENERIC, 0.5)


def test_the_shipped_preset_sees_a_negation_and_no_claim_in_likes():
    texts = ["Bees don't have five eyes.", 'Bees have five eyes.', 'I love cats.']
    scores = load_scorer('q2').score([Example(KNOWLEDGE, text) for text in texts])
    labels = [score.label for score in scores]
    assert labels == ['inconsistent', 'consistent', 'generic']
