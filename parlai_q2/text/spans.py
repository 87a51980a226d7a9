"""
The informative spans of a response: what Q2 asks about.

Honovich et al. 2021, section 2: all named entities, then all noun chunks whose text is
not yet in the list, ignoring case; "i" is dropped. An entity that occurs twice is asked
about twice, as in the released code. Two optional filters depart from the paper: one
drops pronouns ("What is relaxing?"), the other what is equal after normalisation.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from parlai_q2.enums import Word
from parlai_q2.text.normalize import normalize
from parlai_q2.text.pipeline import parse_all
from parlai_q2.turns import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc

DROPPED = 'i'

_THIRD_PERSON = frozenset(
    'he her hers him himself his it its itself she their theirs them themselves they'
    ' herself'.split()
)
_SPEAKERS = frozenset(
    'i me mine myself we us ours ourselves you yours yourself yourselves'.split()
)


class Pronouns(Word):
    """Which spans to leave out that consist of pronouns alone."""

    NONE = 'none'
    THIRD = 'third'  # "it", "they", "him"
    PERSONAL = 'personal'  # these, "you" and "us"


_DROPPED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        Pronouns.NONE: frozenset(),
        Pronouns.THIRD: _THIRD_PERSON,
        Pronouns.PERSONAL: _THIRD_PERSON | _SPEAKERS,
    }
)
_WORD = re.compile(r"[a-z']+|\d")


def informative_spans(responses: Sequence[str]) -> list[list[Span]]:
    """The informative spans of each of B responses: entities, then noun chunks."""
    return [spans_of(doc) for doc in parse_all(responses)]


def spans_of(doc: 'Doc') -> list[Span]:
    """The informative spans of one parsed response."""
    spans = [Span(e.text, e.start_char, e.end_char) for e in doc.ents]
    texts = {s.text.lower() for s in spans}
    for chunk in doc.noun_chunks:
        if chunk.text.lower() not in texts:
            texts.add(chunk.text.lower())
            spans.append(Span(chunk.text, chunk.start_char, chunk.end_char))
    return [s for s in spans if s.text.strip() and s.text.lower() != DROPPED]


def filter_spans(
    spans: Sequence[Span], drop_pronouns: str = Pronouns.NONE, duplicates: bool = True
) -> list[Span]:
    """
    The spans of one response to ask questions about, in order.

    :param drop_pronouns: one of :class:`Pronouns`.
    :param duplicates: keep spans that normalise to the same text as an earlier one.
    """
    pronouns = _DROPPED[drop_pronouns]
    distinct: list[Span] = []
    normal_texts: set[str] = set()
    for span in spans:
        words = _WORD.findall(span.text.lower())
        if words and pronouns.issuperset(words):
            continue
        normal = normalize(span.text)
        if not duplicates and (not normal or normal in normal_texts):
            continue
        normal_texts.add(normal)
        distinct.append(span)
    return distinct
