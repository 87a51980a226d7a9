"""
The informative spans of a response: what Q2 asks about.

Honovich et al. 2021, section 2: all named entities, then all noun chunks whose text
(case-insensitive) is not already there; "i" is dropped. An entity named twice is asked
for twice, as in the released code.
"""

from typing import TYPE_CHECKING, Sequence

from parlai_q2.records import Span
from parlai_q2.text.pipeline import parse_all

if TYPE_CHECKING:
    from spacy.tokens import Doc

DROPPED = 'i'


def informative_spans(responses: Sequence[str]) -> list[list[Span]]:
    """
    The spans of each response, entities first, each kind in reading order.

    :param responses: B texts.
    :return: B lists of spans; empty where there is nothing to ask about.
    """
    return [spans_of(doc) for doc in parse_all(responses)]


def spans_of(doc: 'Doc') -> list[Span]:
    """
    The informative spans of one parsed response.
    """
    spans = [Span(e.text, e.start_char, e.end_char) for e in doc.ents]
    seen = {s.text.lower() for s in spans}
    for chunk in doc.noun_chunks:
        if chunk.text.lower() not in seen:
            seen.add(chunk.text.lower())
            spans.append(Span(chunk.text, chunk.start_char, chunk.end_char))
    return [s for s in spans if s.text.strip() and s.text.lower() != DROPPED]
