"""What a search finds, and what can search."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from parlai_q2.turns import Passage


class Found(NamedTuple):
    """
    A passage that a search found.

    :param score: how well it fits: higher is better. Scores of one retriever can be
        compared; those of two cannot.
    :param key: the passage's number in its index.
    """

    passage: Passage
    score: float
    key: int


class Retriever(Protocol):
    """Anything that finds passages for queries."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """
        The passages that fit each query best.

        :param queries: B texts; one without a word finds nothing.
        :param k: the most passages for each, at least 1.
        :return: B lists, best first.
        """
        ...
