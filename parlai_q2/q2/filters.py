"""
Optional filters of spans and questions that depart from the paper; with the paper's
settings, both let everything through.
"""

from typing import Sequence

from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import Span
from parlai_q2.text.spans import filter_spans
from parlai_q2.text.vague import vague


def spans_to_ask(spans: Sequence[Span], settings: Q2Settings) -> list[Span]:
    """
    The spans of a response to ask about.

    :param spans: the informative spans of the response.
    :param settings: ``drop_pronouns`` and ``duplicate_spans`` decide.
    """
    return filter_spans(spans, settings.drop_pronouns, settings.duplicate_spans)


def questions_to_try(
    questions: Sequence[str], response: str, span: Span, settings: Q2Settings
) -> list[str]:
    """
    The questions of a span to try, without duplicates and empty ones.

    :param questions: the generated questions, in beam order.
    :param response: the whole response.
    :param span: the span that answers them.
    :param settings: ``vague_questions`` decides whether vague ones stay.
    """
    # Two beams may decode to the same text, which would get the same answer.
    distinct = list(dict.fromkeys(filter(None, questions)))
    if settings.vague_questions:
        return distinct
    return [q for q in distinct if not vague(q, response, span.text)]
