"""
Cuts a text into pieces, each with the claims that apply to it. Spans may overlap; every
character gets the most severe status over it, so that support hides no doubt.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from parlai_q2.claims import Score, Status
from parlai_q2.turns import PASSAGE_END, Passage, Span, heading_of

# Instead of a status, for the title of a passage.
TITLE = 'title'
# What people read for each status.
STATUS_WORDS: Mapping[str, str] = {
    Status.SUPPORTED: 'supported',
    Status.UNSUPPORTED: 'not in the knowledge',
    Status.CONTRADICTED: 'contradicted',
    Status.GENERIC: 'states nothing',
}
# Those that are marked, the most severe last.
MARKED = (Status.SUPPORTED, Status.UNSUPPORTED, Status.CONTRADICTED)


class Mark(NamedTuple):
    """A span of a text to be marked: its status, and the index of its claim."""

    span: Span
    status: str
    claim: int


@dataclass(frozen=True)
class TextPiece:
    """
    A stretch of text to which the same claims apply, by their indices.

    :param status: one of :data:`MARKED`, :data:`TITLE`, or None.
    """

    text: str
    status: str | None = None
    claims: tuple[int, ...] = ()


def response_pieces(response: str, score: Score | None) -> list[TextPiece]:
    """
    Cut the response at the words that its score's claims mark.

    :return: pieces whose texts together give the response; empty for an empty response.
    """
    marks = score.marks if score else ()
    claims = list(score.claims) if score else []
    return cut(response, [Mark(c.span, c.status, claims.index(c)) for c in marks])


def knowledge_pieces(
    passages: Sequence[Passage], score: Score | None
) -> list[TextPiece]:
    """
    Cut the knowledge at the words that speak of the response's claims.

    :return: pieces whose texts together give the knowledge; before a passage stands its
        heading or title, if it has one.
    """
    marks = score.marks if score else ()
    claims = list(score.claims) if score else []
    pieces: list[TextPiece] = []
    for n, passage in enumerate(passages):
        if n:
            pieces.append(TextPiece(PASSAGE_END))
        if title := heading_of(passage):
            pieces.append(TextPiece(f'{title}: ', TITLE))
        passage_marks = []
        for claim in marks:
            place = claims.index(claim)
            passage_marks += [
                Mark(evidence.span, claim.status, place)
                for evidence in claim.evidence
                if evidence.passage == n
            ]
        pieces += cut(passage.text, passage_marks)
    return pieces


def passage_title(number: int | None, passages: Sequence[Passage]) -> str:
    """What names a passage; empty if it has none, or there is no such passage."""
    if number is None or not 0 <= number < len(passages):
        return ''
    return heading_of(passages[number])


def cut(text: str, marks: Iterable[Mark]) -> list[TextPiece]:
    """
    Cut a text at the ends of its marks.

    :param marks: offsets beyond the text are clipped; a span that lies outside the text
        marks nothing, and neither does another status than :data:`MARKED`.
    :return: pieces in order, none of them empty.
    """
    inside = []
    for (_, start, end), status, claim in marks:
        start, end = max(start, 0), min(end, len(text))
        if start < end and status in MARKED:
            inside.append((start, end, status, claim))
    edges = sorted({0, len(text)}.union(*[(s, e) for s, e, _, _ in inside]))
    pieces = []
    for start_edge, end_edge in itertools.pairwise(edges):
        overlapping = [
            (status, claim) for s, e, status, claim in inside if s <= start_edge < e
        ]
        most_severe = max((s for s, _ in overlapping), key=MARKED.index, default=None)
        claims = tuple(dict.fromkeys(claim for _, claim in overlapping))
        pieces.append(TextPiece(text[start_edge:end_edge], most_severe, claims))
    return pieces


def clip(pieces: Sequence[TextPiece], limit: int, context: int = 60) -> list[TextPiece]:
    """
    Shorten long stretches without a verdict, so that the marked ones stay in view.

    :param pieces: what :func:`cut` returned.
    :param limit: texts of at most this many characters are left whole.
    :param context: characters kept on each side of a mark. A text without marks keeps
        its first ``limit`` characters.
    :return: pieces; each omission is a piece that says how many characters it had.
    """
    if sum(len(piece.text) for piece in pieces) <= limit:
        return list(pieces)
    if not any(piece.status for piece in pieces):
        return _shorten(''.join(piece.text for piece in pieces), limit, 0)
    clipped: list[TextPiece] = []
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        head, tail = context * (place > 0), context * (place < last)
        clipped += [piece] if piece.status else _shorten(piece.text, head, tail)
    return clipped


def _shorten(text: str, head: int, tail: int) -> list[TextPiece]:
    """The two ends of a text, cut at white space, with the omission between them."""
    beginning = text[:head].rpartition(' ')[0] or text[:head]
    ending = text[len(text) - tail :]
    ending = ending.partition(' ')[2] or ending
    omitted = len(text) - len(beginning) - len(ending)
    note = f' [... {omitted:,} characters ...] '
    if omitted <= len(note):
        return [TextPiece(text)] if text else []
    return [TextPiece(part) for part in (beginning, note, ending) if part]
