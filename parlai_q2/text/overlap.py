"""
Token overlap between two texts, as SQuAD measures it (Rajpurkar et al. 2016, section
6.1), under Q2's normalisation.
"""

from collections import Counter
from typing import NamedTuple, Sequence

from parlai_q2.text.normalize import tokens


class Overlap(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


NO_OVERLAP = Overlap(0.0, 0.0, 0.0)


def token_overlap(reference: str, candidate: str) -> Overlap:
    """
    The word overlap of two texts; repeated words count as often as they occur.

    :param reference: the text to be covered (recall is over its words).
    :param candidate: the text that covers it (precision is over its words).
    :return: zeros when either is empty after normalisation.
    """
    return overlap_of(tokens(reference), tokens(candidate))


def overlap_of(
    reference_tokens: Sequence[str], candidate_tokens: Sequence[str]
) -> Overlap:
    """As :func:`token_overlap`, for two texts that are already tokenised."""
    shared = sum((Counter(reference_tokens) & Counter(candidate_tokens)).values())
    if not shared:
        return NO_OVERLAP
    precision = shared / len(candidate_tokens)
    recall = shared / len(reference_tokens)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def token_f1(reference: str, candidate: str) -> float:
    """Token F1 of two texts, in [0, 1]."""
    return token_overlap(reference, candidate).f1
