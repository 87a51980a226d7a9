"""
Measures how much of a response is copied from its knowledge, as Newsroom does (Grusky
et al. 2018): the response is matched greedily, from left to right, with the
longest run of tokens of the knowledge. Coverage is the share of tokens in such
fragments; density is the mean, over all tokens, of their fragments' lengths.
"""

import re
from collections import defaultdict
from typing import NamedTuple

from parlai_q2.text.normalize import composed

_TOKEN = re.compile(r'\w+|[^\w\s]')


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


def extractiveness(knowledge: str, response: str) -> Extractiveness:
    """
    Coverage and density of a response; zeros for an empty one. Tokens are words and
    punctuation; case is ignored.
    """
    tokens = _TOKEN.findall(composed(response).lower())
    if not tokens:
        return Extractiveness(0.0, 0.0)
    lengths = fragments(_TOKEN.findall(composed(knowledge).lower()), tokens)
    return Extractiveness(
        sum(lengths) / len(tokens), sum(n * n for n in lengths) / len(tokens)
    )


def _common(knowledge: list[str], k: int, response: list[str], r: int) -> int:
    length = 0
    while (
        k + length < len(knowledge)
        and r + length < len(response)
        and knowledge[k + length] == response[r + length]
    ):
        length += 1
    return length
