"""
ROUGE-L of two texts (Lin 2004, "ROUGE: A Package for Automatic Evaluation of
Summaries", section 3.1).

ROUGE-L is the length of the longest common subsequence of words, as a share of each
text's words. Words are runs of letters and digits in lower case, without stemming, and
precision and recall have equal weight: the defaults of Google's ``rouge-score``.

py-rouge, which ParlAI requires, is not used: its tokenizer needs an NLTK download, and
it imports ``pkg_resources``. A test checks that this module computes the same as
py-rouge.
"""

import re
from typing import Sequence

from parlai_q2.text.normalize import composed
from parlai_q2.text.overlap import NO_OVERLAP, Overlap

_WORD = re.compile(r'[^\W_]+')


def rouge_words(text: str) -> list[str]:
    """The words of a text, as ROUGE compares them."""
    return _WORD.findall(composed(text).lower())


def rouge_l(reference: str, candidate: str) -> Overlap:
    """
    Precision, recall and F-measure of the longest common subsequence of words.

    :param reference: the text to be covered (recall is over its words).
    :param candidate: the text that covers it (precision is over its words).
    :return: all zeros if either text has no word.
    """
    reference_words, candidate_words = rouge_words(reference), rouge_words(candidate)
    shared = longest_common_subsequence(reference_words, candidate_words)
    if not shared:
        return NO_OVERLAP
    precision = shared / len(candidate_words)
    recall = shared / len(reference_words)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def longest_common_subsequence(first: Sequence[str], second: Sequence[str]) -> int:
    """
    The length of the longest common subsequence of two word sequences.

    :param first: m words.
    :param second: n words; time is O(m n), memory O(n).
    :return: at most the length of the shorter sequence.
    """
    # before[j] is the result for the words of `first` so far and the first j words of
    # `second`.
    before = [0] * (len(second) + 1)
    for word in first:
        now = [0]
        for j, other in enumerate(second):
            now.append(before[j] + 1 if word == other else max(before[j + 1], now[j]))
        before = now
    return before[-1]
