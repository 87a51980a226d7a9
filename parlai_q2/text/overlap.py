"""
Word overlap of two texts.

Token overlap is SQuAD's (Rajpurkar et al. 2016) under Q2's normalisation.
ROUGE-L (Lin 2004, section 3.1) compares runs of letters and digits in lower case,
without stemming, as Google's ``rouge-score`` does. py-rouge, which ParlAI requires,
needs a download for its tokenizer; a test checks that both compute the same.
"""

import re
from collections import Counter
from typing import NamedTuple, Sequence

from parlai_q2.text.normalize import composed, tokens

_WORD = re.compile(r'[^\W_]+')


class Overlap(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


NO_OVERLAP = Overlap(0.0, 0.0, 0.0)


def token_overlap(reference: str, candidate: str) -> Overlap:
    """
    The word overlap of two texts, repeated words as often as they occur; precision is
    over the candidate's words. Zeros when either is empty after normalisation.
    """
    return overlap_of(tokens(reference), tokens(candidate))


def overlap_of(
    reference_tokens: Sequence[str], candidate_tokens: Sequence[str]
) -> Overlap:
    """As :func:`token_overlap`, for two texts that are already tokenised."""
    shared = sum((Counter(reference_tokens) & Counter(candidate_tokens)).values())
    return _overlap(shared, len(reference_tokens), len(candidate_tokens))


def _overlap(shared: int, reference: int, candidate: int) -> Overlap:
    if not shared:
        return NO_OVERLAP
    precision, recall = shared / candidate, shared / reference
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def token_f1(reference: str, candidate: str) -> float:
    """Token F1 of two texts, in [0, 1]."""
    return token_overlap(reference, candidate).f1


def rouge_words(text: str) -> list[str]:
    """The words of a text, as ROUGE compares them."""
    return _WORD.findall(composed(text).lower())


def rouge_l(reference: str, candidate: str) -> Overlap:
    """ROUGE-L of two texts; zeros if either has no word."""
    one, other = rouge_words(reference), rouge_words(candidate)
    # before[j]: the longest subsequence of the words so far and the first j of `other`.
    before = [0] * (len(other) + 1)
    for word in one:
        now = [0]
        for j, its in enumerate(other):
            now.append(before[j] + 1 if word == its else max(before[j + 1], now[j]))
        before = now
    return _overlap(before[-1], len(one), len(other))
