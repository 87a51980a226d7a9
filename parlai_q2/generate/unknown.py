"""
Gives replies back what a model has no token for. The words of T5 have no "ñ": of "Peña"
the shipped model reads "Pe", an unknown token and "a", and writes the same. What was
meant stands in its context, between the same neighbours (Luong et al. 2015, "Addressing
the rare word problem in neural machine translation", who let the model point at it).
"""

from collections.abc import Callable, Sequence
from itertools import takewhile

# How sentencepiece writes that a word begins.
_BEGINS = '▁'
# Tokens on each side that are compared.
_NEAR = 12


def restored(
    tokens: Sequence[str],
    context: Sequence[str],
    unknown: str,
    knows: Callable[[str], bool],
) -> list[str]:
    """
    What stands for each unknown token of a reply.

    :param tokens: the reply's.
    :param context: those that the model read, where unknown ones are texts.
    :param unknown: the unknown token.
    :param knows: whether the model has a token.
    :return: a text for each unknown token, in order; empty where it cannot be told.

    >>> restored(['Pe', '?', 'a'], ['B', '♭', 'Pe', 'ñ', 'a'], '?', 'BPea'.__contains__)
    ['ñ']
    """
    places = [n for n, token in enumerate(tokens) if token == unknown]
    if not places:
        return []
    meant = [n for n, token in enumerate(context) if not knows(token)]
    return [_meant(tokens, place, context, meant) for place in places]


def _meant(
    tokens: Sequence[str], place: int, context: Sequence[str], meant: Sequence[int]
) -> str:
    before, after = _sides(tokens, place)
    best: tuple[int, str] = (0, '')
    for there in meant:
        left, right = _sides(context, there)
        alike = _alike(before, left) + _alike(after, right)
        if alike > best[0]:
            best = alike, context[there].strip(_BEGINS)
    if best[0] == 0 and len({context[n] for n in meant}) == 1:
        return context[meant[0]].strip(_BEGINS)
    return best[1]


def _sides(tokens: Sequence[str], place: int) -> tuple[list[str], list[str]]:
    """The tokens before a place, the nearest first, and those after it, as texts."""
    before = tokens[max(place - _NEAR, 0) : place]
    return _texts(before)[::-1], _texts(tokens[place + 1 : place + 1 + _NEAR])


def _texts(tokens: Sequence[str]) -> list[str]:
    plain = (token.strip(_BEGINS).lower() for token in tokens)
    return [text for text in plain if text]


def _alike(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """How many of two sides' nearest tokens are the same."""
    pairs = zip(ours, theirs)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
