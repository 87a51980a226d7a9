"""
Cuts a text into pieces by what the verdicts say of each.

Answer spans overlap and nest ("Madonna" in "Madonna's first tour"). Every character
gets the gravest status of the spans over it: a doubt is never hidden behind support.
"""

from dataclasses import dataclass
from typing import Iterable, Mapping, Optional, Sequence

from parlai_q2.records import Comparison, Span, Verdict
from parlai_q2.scorers.base import DEFAULT_THRESHOLD


class Status:
    """
    What a verdict says of a span, in one word.
    """

    SUPPORTED = 'supported'
    UNSUPPORTED = 'unsupported'
    CONTRADICTED = 'contradicted'


# How grave each status is; the graver one wins where spans overlap.
_GRAVITY = {Status.SUPPORTED: 0, Status.UNSUPPORTED: 1, Status.CONTRADICTED: 2}

_BY_COMPARISON: Mapping[str, str] = {
    Comparison.EXACT: Status.SUPPORTED,
    Comparison.ENTAILMENT: Status.SUPPORTED,
    Comparison.NO_ANSWER: Status.UNSUPPORTED,
    Comparison.CONTRADICTION: Status.CONTRADICTED,
}


@dataclass(frozen=True)
class Piece:
    """
    A stretch of text over which the same verdicts stand.

    :param text: the stretch.
    :param status: one of :class:`Status`'s words; None where no verdict stands.
    :param verdicts: the places of its verdicts in the list given, ascending.
    """

    text: str
    status: Optional[str] = None
    verdicts: tuple[int, ...] = ()


def status_of(verdict: Verdict) -> str:
    """
    What a verdict says of its span.

    :param verdict: one that NLI did not decide (neutral, or F1) supports the span when
        the token F1 is above the paper's threshold of 0.5; one of another scorer's
        words when its score is.
    :return: one of :class:`Status`'s words.
    """
    known = _BY_COMPARISON.get(verdict.comparison)
    if known is not None:
        return known
    by_tokens = verdict.comparison in (Comparison.NEUTRAL, Comparison.F1)
    above = (verdict.f1 if by_tokens else verdict.score) > DEFAULT_THRESHOLD
    return Status.SUPPORTED if above else Status.UNSUPPORTED


def response_pieces(response: str, verdicts: Sequence[Verdict]) -> list[Piece]:
    """
    The response, cut at the spans that were asked about.

    :param response: the response that was scored.
    :param verdicts: its verdicts, in any order.
    :return: pieces whose texts together give the response; empty for an empty response.
    """
    spans = [(v.response_answer, status_of(v)) for v in verdicts]
    return cut(response, spans)


def knowledge_pieces(knowledge: str, verdicts: Sequence[Verdict]) -> list[Piece]:
    """
    The knowledge, cut at the spans that answered.

    :param knowledge: the knowledge of the response.
    :param verdicts: the response's verdicts; those without an answer mark nothing.
    :return: pieces whose texts together give the knowledge.
    """
    spans = [(v.knowledge_answer, status_of(v)) for v in verdicts]
    return cut(knowledge, spans)


def cut(text: str, spans: Iterable[tuple[Optional[Span], str]]) -> list[Piece]:
    """
    Cut a text at the ends of its spans.

    :param text: the whole text.
    :param spans: S spans, each with its status, or None for no span. Offsets beyond the
        text are clipped; a span with nothing inside the text marks nothing.
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
        gravest = max((s for s, _ in over), key=_GRAVITY.__getitem__, default=None)
        pieces.append(Piece(text[left:right], gravest, tuple(p for _, p in over)))
    return pieces


def clip(pieces: Sequence[Piece], limit: int, context: int = 60) -> list[Piece]:
    """
    Shorten long stretches without a verdict, so that what is marked stays in view.

    :param pieces: what :func:`cut` gave.
    :param limit: texts of at most this many characters are left whole.
    :param context: characters kept on each side of a mark (and, with no mark, L =
        ``limit`` at the beginning).
    :return: pieces; what was left out is a piece saying how many characters it was.
    """
    if sum(len(piece.text) for piece in pieces) <= limit:
        return list(pieces)
    if not any(piece.status for piece in pieces):
        return _shorten(''.join(piece.text for piece in pieces), limit, 0)
    shown: list[Piece] = []
    last = len(pieces) - 1
    for place, piece in enumerate(pieces):
        if piece.status:
            shown.append(piece)
        else:
            head = context if place > 0 else 0
            tail = context if place < last else 0
            shown.extend(_shorten(piece.text, head, tail))
    return shown


def _shorten(text: str, head: int, tail: int) -> list[Piece]:
    """
    The two ends of a text, cut at white space, and between them what was left out.
    """
    left = text[:head].rpartition(' ')[0] or text[:head]
    right = text[len(text) - tail :]
    right = right.partition(' ')[2] or right
    left_out = len(text) - len(left) - len(right)
    note = f' [... {left_out:,} characters ...] '
    if left_out <= len(note):
        return [Piece(text)] if text else []
    return [Piece(part) for part in (left, note, right) if part]
