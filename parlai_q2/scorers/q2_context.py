"""
Compares answers in context, which departs from the paper: a detector reads each
sentence of the response. It notices changes around a noun (a negation, a degree, a
swapped role) and understands other words than those of the question.

The support of a claim is a weighted mean of the comparison of its answers and the
support of its sentence (:data:`~parlai_q2.q2.settings.SENTENCE_WEIGHT`). A sentence
without a valid question counts as one claim of its own, by its support alone, unless it
is generic.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, STANCES, Claim, Stance, Status
from parlai_q2.q2.compare import AGREE
from parlai_q2.q2.metric import Q2Result
from parlai_q2.q2.settings import SENTENCE_WEIGHT
from parlai_q2.scorers.consistency import Piece, claim_of, stating, status_of, support
from parlai_q2.text.selection import SentenceIndex


def judge_in_context(
    result: Q2Result, pieces: Sequence[Piece], knowledge: SentenceIndex
) -> Q2Result:
    """
    A result with its claims judged in context; generic if the response is.

    :param pieces: the response's sentences, as the detector reads them.
    """
    if not stating(pieces):
        value = NOT_VERIFIABLE_VALUE
        return replace(result, value=value, claims=(), is_generic=True)
    if not result.claims:
        return result
    claims = []
    for piece in pieces:
        questions = [claim for claim in result.claims if _is_in(claim, piece)]
        claims += [_in_context(claim, piece) for claim in questions]
        if not questions and stating([piece]):
            claims.append(claim_of(piece, knowledge, AGREE))
    value = fmean(claim.support for claim in claims)
    return replace(result, value=value, claims=tuple(claims))


def _is_in(claim: Claim, piece: Piece) -> bool:
    return piece.span.start <= claim.span.start < piece.span.end


def _in_context(claim: Claim, piece: Piece) -> Claim:
    in_context = SENTENCE_WEIGHT * support(piece.reading)
    value = in_context + (1 - SENTENCE_WEIGHT) * claim.support
    if value > AGREE:
        status = Status.SUPPORTED
    elif Status.CONTRADICTED in (claim.status, status_of(piece, AGREE)):
        status = Status.CONTRADICTED
    else:
        status = Status.UNSUPPORTED
    stance = STANCES.get(status, Stance.NEITHER)
    evidence = tuple(place._replace(stance=stance) for place in claim.evidence)
    return replace(claim, support=value, status=status, evidence=evidence)
