"""
Cuts a text into pieces, each with the verdicts that apply to it. Spans may overlap;
every character gets the most severe status over it, so that support hides no doubt.
"""

from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Sequence

from parlai_q2.claims import Comparison, Statement, Verdict
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.turns import PASSAGE_END, Passage, Span


class Status:
    """The status of a span according to its verdict, in one word."""

    SUPPORTED = 'supported'
    UNSUPPORTED = 'unsupported'
    CONTRADICTED = 'contradicted'


# Instead of a status, for the title of a passage.
TITLE = 'title'
# What people read for each status, the most severe last.
SHOWN = {
    Status.SUPPORTED: 'supported',
    Status.UNSUPPORTED: 'not in the knowledge',
    Status.CONTRADICTED: 'contradicted',
}
_GRAVITY = list(SHOWN)

_BY_COMPARISON: Mapping[str, str] = {
    Comparison.EXACT: Status.SUPPORTED,
    Comparison.ENTAILMENT: Status.SUPPORTED,
    Comparison.NO_ANSWER: Status.UNSUPPORTED,
    Comparison.CONTRADICTION: Status.CONTRADICTED,
}


@dataclass(frozen=True)
class Piece:
    """
    A stretch of text to which the same verdicts apply, by their indices.

    :param status: one of :class:`Status`'s words, :data:`TITLE`, or None.
    """

    text: str
    status: Optional[str] = None
    verdicts: tuple[int, ...] = ()


def status_of(verdict: Verdict) -> str:
    """
    The status that a verdict gives its span. Where NLI did not decide (neutral, or F1),
    the token F1 does, and for another scorer's comparison the score: above the paper's
    threshold of 0.5, they support the span.
    """
    known = _BY_COMPARISON.get(verdict.comparison)
    if known is not None:
        return known
    by_tokens = verdict.comparison in (Comparison.NEUTRAL, Comparison.F1)
    above = (verdict.f1 if by_tokens else verdict.score) > DEFAULT_THRESHOLD
    return Status.SUPPORTED if above else Status.UNSUPPORTED


def response_pieces(response: str, verdicts: Sequence[Verdict]) -> list[Piece]:
    """
    Cut the response at the spans that questions were asked about.

    :return: pieces whose texts together give the response; empty for an empty response.
    """
    spans = [(v.response_answer, status_of(v)) for v in verdicts]
    return cut(response, spans)


def knowledge_pieces(
    passages: Sequence[Passage],
    verdicts: Sequence[Verdict],
    statements: Sequence[Statement] = (),
) -> list[Piece]:
    """
    Cut the knowledge at the spans that answered the questions or, where nothing was
    asked, at the sentences that the response rests on.

    :param verdicts: the response's verdicts; those without an answer mark nothing.
    :return: pieces whose texts together give the knowledge; before a passage stands its
        title, if it has one.
    """
    pieces: list[Piece] = []
    for n, passage in enumerate(passages):
        if n:
            pieces.append(Piece(PASSAGE_END))
        if passage.title:
            pieces.append(Piece(f'{passage.title}: ', TITLE))
        answers = [
            (v.knowledge_answer if v.passage == n else None, status_of(v))
            for v in verdicts
        ]
        rests = [
            (e.sentence, Status.SUPPORTED)
            for statement in statements
            for e in statement.evidence
            if e.passage == n
        ]
        if verdicts or not rests:
            pieces += cut(passage.text, answers)
        else:
            found = cut(passage.text, rests)
            pieces += [Piece(piece.text, piece.status) for piece in found]
    return pieces


def evidence_of(
    statement: Statement, passages: Sequence[Passage]
) -> list[tuple[str, str]]:
    """What a statement rests on: titles of passages, or empty, and their sentences."""
    return [
        (title_of(e.passage, passages), e.sentence.text) for e in statement.evidence
    ]


def title_of(number: Optional[int], passages: Sequence[Passage]) -> str:
    """The title of a passage; empty if it has none, or there is no such passage."""
    if number is None or not 0 <= number < len(passages):
        return ''
    return passages[number].title


def cut(text: str, spans: Iterable[tuple[Optional[Span], str]]) -> list[Piece]:
    """
    Cut a text at the ends of its spans.

    :param spans: S spans, each with its status; a span may be None. Offsets beyond the
        text are clipped; a span that lies outside the text marks nothing.
    :return: pieces in order, none of them empty.
    """
    found = []
    for place, (span, status) in enumerate(spans):
        if span is not None:
            start, end = max(span.start, 0), min(span.end, len(text))
            if start < end:
                found.append((start, end, status, place))
    edges = sorted({0, len(text)}.union(*[(s, e) for s, e, _, _ in found]))
    pieces = []
    for left, right in zip(edges, edges[1:], strict=False):
        over = [(status, place) for s, e, status, place in found if s <= left < e]
        gravest = max((s for s, _ in over), key=_GRAVITY.index, default=None)
        pieces.append(Piece(text[left:right], gravest, tuple(p for _, p in over)))
    return pieces


def clip(pieces: Sequence[Piece], limit: int, context: int = 60) -> list[Piece]:
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
    shown: list[Piece] = []
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        head, tail = context * (place > 0), context * (place < last)
        shown += [piece] if piece.status else _shorten(piece.text, head, tail)
    return shown


def _shorten(text: str, head: int, tail: int) -> list[Piece]:
    """The two ends of a text, cut at white space, with the omission between them."""
    left = text[:head].rpartition(' ')[0] or text[:head]
    right = text[len(text) - tail :]
    right = right.partition(' ')[2] or right
    left_out = len(text) - len(left) - len(right)
    note = f' [... {left_out:,} characters ...] '
    if left_out <= len(note):
        return [Piece(text)] if text else []
    return [Piece(part) for part in (left, note, right) if part]
