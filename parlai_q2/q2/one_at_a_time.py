"""
Q2 in the order of the published algorithm: one span, one question, one pair at a time.

It calls the same backends with one input each and stops at a span's first valid
question, as the released code does. It is a baseline for timing and a check that the
batched metric gives the same numbers; nothing else uses it.
"""

from parlai_q2.claims import Claim
from parlai_q2.q2.ask import (
    Question,
    questions_to_try,
    read_context,
    same_answer,
    spans_to_ask,
)
from parlai_q2.q2.compare import judge
from parlai_q2.q2.knowledge import Excerpts
from parlai_q2.q2.metric import Q2Models, Q2Result, response_result
from parlai_q2.q2.settings import Q2Settings, Variant
from parlai_q2.text.spans import personal
from parlai_q2.turns import Example, Span


def q2_one_at_a_time(
    example: Example, models: Q2Models, settings: Q2Settings
) -> Q2Result:
    """Q2 for one example; neither its knowledge nor its response is blank."""
    claims: list[Claim] = []
    (spans,) = spans_to_ask([example.response], models.find_spans, settings)
    for span in spans:
        claims += _judge_span(span, example, models, settings)
    whole = Excerpts(settings.knowledge_words).of_response(example)
    nli = models.nli.classify([(whole.lower(), example.response.lower())])[0]
    return response_result(example, claims, nli, settings)


def _judge_span(
    span: Span, example: Example, models: Q2Models, settings: Q2Settings
) -> list[Claim]:
    response = example.response
    context = read_context(response, span, settings.max_context_words)
    claims: list[Claim] = []
    generated = models.generator.generate([(span.text, context)])[0]
    for text in questions_to_try(generated, response, span, settings):
        if settings.personal_filter and personal([text], settings.passive_subjects)[0]:
            continue
        answer = models.answerer.answer([(text, response)])[0]
        if answer is None or not same_answer(answer.text, span.text):
            continue
        excerpts = Excerpts(settings.knowledge_words, settings.lower_answers)
        answers = excerpts.answers([(text, example)], models.answerer)
        nli = models.nli if settings.use_nli else None
        claims += judge(
            [Question(text, span)], answers, nli, settings.soft_nli, settings.by_value
        )
        if settings.variant == Variant.SINGLE:
            break
    return claims
