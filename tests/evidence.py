"""Claims for tests, as scorers make them."""

from parlai_q2.claims import STANCES, Claim, Evidence, Stance, Status
from parlai_q2.q2.compare import STATUSES
from parlai_q2.turns import Span


def asked(
    question: str,
    said: Span,
    known: Span | None,
    comparison: str,
    support: float = 0.0,
    f1: float = 0.0,
) -> Claim:
    """A claim that Q2 asked about; the answer is in the first passage."""
    status = STATUSES.get(comparison)
    status = status or (Status.SUPPORTED if f1 > 0.5 else Status.UNSUPPORTED)
    stance = STANCES.get(status, Stance.NEITHER)
    found = () if known is None else (Evidence(0, known, stance),)
    return Claim(said, support, status, found, question, comparison, f1)
