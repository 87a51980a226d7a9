"""
Word overlap of two texts.

Token overlap is SQuAD's (Rajpurkar et al. 2016) under Q2's normalisation.
ROUGE-L (Lin 2004, section 3.1) compares runs of letters and digits in lower case,
without stemming, as Google's ``rouge-score`` does. py-rouge, which ParlAI requires,
needs a download for its tokenizer; a test checks that both compute the same.

Coverage and density say how much of a response is copied (Newsroom, Grusky et al.
2018). The response is matched greedily, from left to right, with the longest run of
tokens of the knowledge. Coverage is the share of tokens in such fragments; density is
the mean, over all tokens, of their fragments' lengths. Numbers overlap by value.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from parlai_q2.text.agreement import index_amounts, is_hour_in_words
from parlai_q2.text.amounts import Amount, find_amounts
from parlai_q2.text.normalize import composed, tokens

_WORD = re.compile(r'[^\W_]+')
_TOKEN = re.compile(r'\w+|[^\w\s]')
_DIGIT = re.compile(r'\d')
_WITH_DIGIT = re.compile(r'(?<![\w.,])[\w/-]*\d[\w/-]*')


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
    return compare_tokens(tokens(reference), tokens(candidate))


def compare_tokens(
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
    words, other = rouge_words(reference), rouge_words(candidate)
    # Hyyrö 2004, "Bit-parallel LCS-length computation revisited": a zero bit for each
    # word of the reference by which the subsequence with the words so far is longer.
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        places[word] = places.get(word, 0) | 1 << place
    row = every = (1 << len(words)) - 1
    for word in other:
        matches = row & places.get(word, 0)
        row = (row + matches | row - matches) & every
    return _overlap(len(words) - row.bit_count(), len(words), len(other))


class Extractiveness(NamedTuple):
    """Coverage in [0, 1] and density, from 0 to the response's length in tokens."""

    coverage: float
    density: float


def fragments(knowledge: list[str], response: list[str]) -> list[int]:
    """The lengths in tokens of the fragments that a response copies, in its order."""
    places = defaultdict(list)
    for place, token in enumerate(knowledge):
        places[token].append(place)
    lengths, start = [], 0
    while start < len(response):
        longest = end = 0
        for place in places[response[start]]:
            if place < end:
                # Inside the previous run; Newsroom's procedure skips it as well.
                continue
            length = _common(knowledge, place, response, start)
            longest, end = max(longest, length), place + length
        if longest:
            lengths.append(longest)
        start += max(longest, 1)
    return lengths


def coverage(knowledge: str, response: str) -> float:
    """The share of a response's tokens that the knowledge has, in [0, 1]."""
    tokens, of_knowledge = _split_tokens(response), {*_split_tokens(knowledge)}
    return sum(token in of_knowledge for token in tokens) / max(1, len(tokens))


def extractiveness(knowledge: str, response: str) -> Extractiveness:
    """
    Coverage and density of a response; zeros for an empty one. Tokens are words and
    punctuation; case is ignored.
    """
    tokens = _split_tokens(response)
    if not tokens:
        return Extractiveness(0.0, 0.0)
    lengths = fragments(_split_tokens(knowledge), tokens)
    return Extractiveness(
        sum(lengths) / len(tokens), sum(n * n for n in lengths) / len(tokens)
    )


def _split_tokens(text: str) -> list[str]:
    return _TOKEN.findall(composed(text).lower())


def _common(knowledge: list[str], k: int, response: list[str], r: int) -> int:
    length = 0
    while (
        k + length < len(knowledge)
        and r + length < len(response)
        and knowledge[k + length] == response[r + length]
    ):
        length += 1
    return length


def known_share(knowledge: str, text: str) -> float:
    """
    The share of a text's amounts, and of its other words with digits, that the
    knowledge has, in [0, 1]; 1 for a text without any.
    """
    amounts = find_amounts(text)
    codes = _find_codes(text, amounts)
    amounts = tuple(amount for amount in amounts if not is_hour_in_words(amount))
    if not amounts and not codes:
        return 1.0
    index = index_amounts(knowledge)
    shared_codes = codes & _find_codes(knowledge, index.amounts)
    hits = sum(map(index.has, amounts)) + len(shared_codes)
    return hits / (len(amounts) + len(codes))


def _find_codes(text: str, amounts: Sequence[Amount]) -> set[str]:
    """The words with digits that are no amounts: "A380", "19th"."""
    if not _DIGIT.search(text):
        return set()
    inside: set[int] = set()
    for amount in amounts:
        inside.update(range(amount.start, amount.end))
    return {
        m[0].lower()
        for m in _WITH_DIGIT.finditer(text)
        if inside.isdisjoint(range(*m.span()))
    }
