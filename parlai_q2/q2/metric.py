"""
Q2 over a batch: from knowledge and responses to scores with evidence (steps 1 to 7).

Each stage processes the whole batch: questions for all spans of all responses are
generated in one call, all questions are answered from the knowledge in one call, and so
on. The backends remove duplicates and split the rest into batches of similar length.

Short knowledge is read whole, its passages one after the other. From long knowledge (a
departure from the paper), only the few sentences that match a question or a sentence of
the response best are read, in the order of the text; if they do not answer a question,
the knowledge does not. An answer lies in one passage: a part in the next one is cut.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from statistics import fmean

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Claim, Evidence, Stance
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.q2.ask import (
    SpanFinder,
    questions_to_try,
    read_context,
    same_answer,
    spans_to_ask,
    valid_questions,
)
from parlai_q2.q2.compare import (
    Question,
    hard_score,
    judge,
    make_claims,
    pairs_to_compare,
)
from parlai_q2.q2.settings import Q2Settings, Variant
from parlai_q2.text.overlap import token_f1
from parlai_q2.text.selection import SentenceIndex, index_passages
from parlai_q2.text.sentences import pieces
from parlai_q2.text.spans import informative_spans, only_personal, personal
from parlai_q2.turns import Example, Span, Turn

# Sentences read for a question and, in end-to-end NLI, for each sentence of a response.
# Chosen on development data.
SENTENCES_PER_QUESTION, SENTENCES_PER_CLAIM = 3, 2


@dataclass(frozen=True)
class Q2Models:
    """The models of the metric, and the function that finds spans."""

    generator: Seq2SeqQuestionGenerator
    answerer: SpanQuestionAnswerer
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


def excerpt_for_response(example: Example, knowledge_words: int) -> str:
    """
    The text that end-to-end NLI reads of the knowledge for a response.

    :param knowledge_words: knowledge of more words is long; 0 if none is.
    """
    index = index_passages(*example.texts)
    if not 0 < knowledge_words < index.words:
        return index.text
    best = (index.best(p.text, SENTENCES_PER_CLAIM) for p in pieces(example.response))
    return index.joined(sorted(set(chain.from_iterable(best))))


def find_answers(
    questions: Sequence[tuple[str, Turn]],
    answerer: SpanQuestionAnswerer,
    settings: Q2Settings,
) -> list[Evidence | None]:
    """
    Find the answer in the knowledge to each of Q questions; None if there is none.
    """
    # The sentences to read for each question; none if all are read.
    selections: list[tuple[SentenceIndex, list[int]]] = []
    for question, turn in questions:
        index, places = index_passages(*turn.texts), list[int]()
        if 0 < settings.knowledge_words < index.words:
            places = sorted(index.best(question, SENTENCES_PER_QUESTION))
        selections.append((index, places))
    spans = answerer.answer(
        [
            (question, index.joined(places))
            for (question, _), (index, places) in zip(questions, selections)
        ]
    )
    answers: list[Evidence | None] = []
    for answer, (index, places) in zip(spans, selections, strict=True):
        if answer is None:
            answers.append(None)
            continue
        passage, span = index.located(places, answer.start, answer.end)
        if settings.lower_answers:
            span = span._replace(text=span.text.lower())
        answers.append(Evidence(passage, span, Stance.NEITHER))
    return answers


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
    texts = [(question.text, example) for question, example in flat]
    answers = find_answers(texts, models.answerer, settings)
    # One NLI call serves both: comparing answers, and end-to-end NLI on whole texts.
    unequal = pairs_to_compare(flat_questions, answers) if settings.use_nli else {}
    whole = [_whole_texts(example, settings) for example in examples]
    probabilities = models.nli.classify([*unequal.values(), *whole])
    compared = dict(zip(unequal, probabilities))
    soft, by_value = settings.soft_nli, settings.by_value
    claims = iter(make_claims(flat_questions, answers, compared, soft, by_value))
    end_to_end = probabilities[len(unequal) :]
    results = []
    for example, of_response, nli in zip(examples, questions, end_to_end, strict=True):
        own_claims = list(islice(claims, len(of_response)))
        results.append(response_result(example, own_claims, nli, settings))
    return results


def _whole_texts(example: Example, settings: Q2Settings) -> tuple[str, str]:
    """The pair for end-to-end NLI: in lower case, as the released code gives it."""
    knowledge = excerpt_for_response(example, settings.knowledge_words)
    return knowledge.lower(), example.response.lower()


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
        and settings.skip_uninformative
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


def q2_one_at_a_time(
    example: Example, models: Q2Models, settings: Q2Settings
) -> Q2Result:
    """
    Q2 for one example in the order of the published algorithm: one span, one question,
    one pair at a time, up to a span's first valid question. It is a baseline for timing
    and a check that the batched metric gives the same numbers.
    """
    claims: list[Claim] = []
    (spans,) = spans_to_ask([example.response], models.find_spans, settings)
    for span in spans:
        claims += _judge_span(span, example, models, settings)
    (nli,) = models.nli.classify([_whole_texts(example, settings)])
    return response_result(example, claims, nli, settings)


def _judge_span(
    span: Span, example: Example, models: Q2Models, settings: Q2Settings
) -> list[Claim]:
    response = example.response
    context = read_context(response, span, settings.max_context_words)
    claims: list[Claim] = []
    generated = models.generator.generate([(span.text, context)])[0]
    for text in questions_to_try(generated, response, span, settings):
        if settings.personal_filter and personal([text])[0]:
            continue
        answer = models.answerer.answer([(text, response)])[0]
        if answer is None or not same_answer(answer.text, span.text):
            continue
        answers = find_answers([(text, example)], models.answerer, settings)
        nli = models.nli if settings.use_nli else None
        claims += judge(
            [Question(text, span)], answers, nli, settings.soft_nli, settings.by_value
        )
        if settings.variant == Variant.SINGLE:
            break
    return claims
