"""
Generates the questions that check a response: Q2's steps 1 to 3.

A question is valid if it is not about the speakers and if question answering on the
response returns the span that the question was generated for (the round trip), compared
after normalisation. The first valid question of each span, in beam order, is kept
(``single``), or all of them (``multi``). With ``single``, the best question of every
span is checked in one call, then the second of each span whose first failed, and so on.
"""

from collections.abc import Callable, Sequence

from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import Seq2SeqQuestionGenerator
from parlai_q2.q2.compare import Question
from parlai_q2.q2.settings import Q2Settings, Variant
from parlai_q2.text.normalize import normalize
from parlai_q2.text.sentences import windows
from parlai_q2.text.spans import (
    drop_personal,
    filter_spans,
    names_speaker,
    personal,
    vague,
)
from parlai_q2.turns import Span

SpanFinder = Callable[[Sequence[str]], list[list[Span]]]
# With at most this many questions left, answering all of them in one call is cheaper
# than another round, even if some answers turn out not to be needed.
MAX_AT_ONCE = 24


def valid_questions(
    responses: Sequence[str],
    find_spans: SpanFinder,
    generator: Seq2SeqQuestionGenerator,
    answerer: SpanQuestionAnswerer,
    settings: Q2Settings,
) -> list[list[Question]]:
    """The valid questions of B responses, if any, in span order, then beam order."""
    row_spans: list[tuple[int, Span]] = []  # S spans
    for row, spans in enumerate(spans_to_ask(responses, find_spans, settings)):
        row_spans += [(row, span) for span in spans]
    max_words = settings.max_context_words
    generated = generator.generate(
        [
            (span.text, read_context(responses[row], span, max_words))
            for row, span in row_spans
        ]
    )
    untried = [
        questions_to_try(questions, responses[row], span, settings)
        for (row, span), questions in zip(row_spans, generated, strict=True)
    ]
    valid = _select_valid(responses, row_spans, untried, answerer, settings)
    result: list[list[Question]] = [[] for _ in responses]
    for (row, span), questions in zip(row_spans, valid, strict=True):
        result[row] += [Question(text, span) for text in questions]
    return result


def spans_to_ask(
    responses: Sequence[str], find_spans: SpanFinder, settings: Q2Settings
) -> list[list[Span]]:
    """The spans of each response to ask about; with the paper's settings, all."""
    spans = find_spans(responses)
    if settings.skip_uninformative:
        spans = [filter_spans(found_spans) for found_spans in spans]
        if settings.personal_filter:
            spans = drop_personal(responses, spans)
    return spans


def questions_to_try(
    questions: Sequence[str], response: str, span: Span, settings: Q2Settings
) -> list[str]:
    """A span's generated questions to try; with the paper's settings, all of them."""
    # Two beams may decode to the same text, which would get the same answer.
    distinct = list(dict.fromkeys(filter(None, questions)))
    if settings.skip_uninformative:
        distinct = [q for q in distinct if not vague(q, response, span.text)]
        if settings.personal_filter:
            distinct = [q for q in distinct if not names_speaker(q, response)]
    return distinct


def _select_valid(
    responses: Sequence[str],
    row_spans: Sequence[tuple[int, Span]],
    untried: list[list[str]],
    answerer: SpanQuestionAnswerer,
    settings: Q2Settings,
) -> list[list[str]]:
    valid: list[list[str]] = [[] for _ in row_spans]
    is_multi = all_at_once = settings.variant == Variant.MULTI
    while any(untried):
        tried: list[tuple[int, str]] = []
        for place, questions in enumerate(untried):
            count = len(questions) if all_at_once else 1
            tried += [(place, question) for question in questions[:count]]
        untried = [[] if all_at_once else questions[1:] for questions in untried]
        if settings.personal_filter:
            questions = [question for _, question in tried]
            about_speakers = personal(questions)
            tried = [
                t for t, drop in zip(tried, about_speakers, strict=True) if not drop
            ]
        answers = answerer.answer(
            [(q, responses[row_spans[place][0]]) for place, q in tried]
        )
        answered: set[int] = set()
        for (place, question), answer in zip(tried, answers, strict=True):
            if place in answered and not is_multi:
                continue
            if answer is not None and same_answer(
                answer.text, row_spans[place][1].text
            ):
                valid[place].append(question)
                answered.add(place)
        untried = [
            [] if place in answered else questions
            for place, questions in enumerate(untried)
        ]
        all_at_once = sum(map(len, untried)) <= MAX_AT_ONCE
    return valid


def same_answer(answer: str, other: str) -> bool:
    """Whether two answers are equal after normalisation."""
    return normalize(answer) == normalize(other)


def read_context(response: str, span: Span, max_words: int) -> str:
    """The text to read for a span: the response or, if long, the span's window."""
    if len(response.split()) <= max_words:
        return response
    for window in windows(response, max_words):
        if span.start < window.end:
            return window.text
    return response
