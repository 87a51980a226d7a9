"""
Q2 over a batch: from knowledge and responses to scores with evidence (steps 1 to 7).

Each stage processes the whole batch: questions for all spans of all responses are
generated in one call, all questions are answered from the knowledge in one call, and so
on. The backends remove duplicates and split the rest into batches of similar length.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from statistics import fmean

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Claim
from parlai_q2.models.protocols import (
    NliModel,
    NliProbabilities,
    QuestionAnswerer,
    QuestionGenerator,
)
from parlai_q2.q2.ask import Question, SpanFinder, valid_questions
from parlai_q2.q2.compare import hard_score, make_claims, pairs_to_compare
from parlai_q2.q2.knowledge import Excerpts
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.text.overlap import token_f1
from parlai_q2.text.spans import informative_spans, only_personal
from parlai_q2.turns import Example


@dataclass(frozen=True)
class Q2Models:
    """The models of the metric, and the function that finds spans."""

    generator: QuestionGenerator
    answerer: QuestionAnswerer
    nli: NliModel
    find_spans: SpanFinder = informative_spans


@dataclass(frozen=True)
class Q2Result:
    """
    The result of Q2 for one response.

    :param value: Q2, in [0, 1].
    :param f1: Q2 without NLI, in [0, 1].
    :param claims: one per question; empty if the fallback was used.
    :param nli: the end-to-end NLI probabilities of knowledge and response.
    :param is_generic: whether the response states nothing that knowledge could support.
    """

    value: float
    f1: float
    claims: tuple[Claim, ...]
    nli: NliProbabilities
    is_generic: bool = False


def q2(
    examples: Sequence[Example], models: Q2Models, settings: Q2Settings
) -> list[Q2Result]:
    """Q2 for B examples; neither knowledge nor response is blank."""
    questions = valid_questions(
        [example.response for example in examples],
        models.find_spans,
        models.generator,
        models.answerer,
        settings,
    )
    flat: list[tuple[Question, Example]] = []  # Q questions
    for example, response_questions in zip(examples, questions, strict=True):
        flat += [(question, example) for question in response_questions]
    flat_questions = [question for question, _ in flat]
    excerpts = Excerpts(settings.knowledge_words, settings.lower_answers)
    answers = excerpts.answers([(q.text, e) for q, e in flat], models.answerer)
    # One NLI call serves both: comparing answers, and end-to-end NLI on whole texts.
    unequal = pairs_to_compare(flat_questions, answers) if settings.use_nli else {}
    # As the released code does, it gives NLI both whole texts in lower case.
    whole = [(excerpts.of_response(e).lower(), e.response.lower()) for e in examples]
    probabilities = models.nli.classify([*unequal.values(), *whole])
    compared = dict(zip(unequal, probabilities))
    claims = iter(
        make_claims(
            flat_questions, answers, compared, settings.soft_nli, settings.by_value
        )
    )
    end_to_end = probabilities[len(unequal) :]
    results = []
    for example, of_response, nli in zip(examples, questions, end_to_end, strict=True):
        own_claims = list(islice(claims, len(of_response)))
        results.append(response_result(example, own_claims, nli, settings))
    return results


def response_result(
    example: Example,
    claims: Sequence[Claim],
    nli: NliProbabilities,
    settings: Q2Settings,
) -> Q2Result:
    """
    The mean score of a response's questions, or the fallback if it has none.

    The fallback is end-to-end NLI, whose probabilities are given. Without NLI it is the
    token F1 of knowledge and response, unless ``nli_fallback`` asks for the same.
    """
    if claims:
        value = fmean(c.support for c in claims)
        return Q2Result(value, fmean(c.f1 or 0.0 for c in claims), tuple(claims), nli)
    if (
        settings.personal_filter
        and not settings.first_person
        and only_personal([example.response])[0]
    ):
        value = NOT_VERIFIABLE_VALUE
        return Q2Result(value, value, (), nli, is_generic=True)
    f1 = value = hard_score(nli, settings.neutral_fallback)
    if not settings.nli_fallback:
        f1 = token_f1(example.knowledge_text, example.response)
    if not settings.use_nli:
        value = f1
    elif settings.soft_nli:
        value = nli.expected(settings.neutral_fallback)
    return Q2Result(value, f1, (), nli)
