"""
The protocol of retrievers: an index, or a retriever of another library wrapped in a
class of a few lines (docs/documents.md).
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from parlai_q2.errors import InputError
from parlai_q2.turns import Passage


class Hit(NamedTuple):
    """
    A passage that a search found.

    :param score: its score: higher is better. Only scores of the same retriever can be
        compared.
    :param key: the passage's number in its index; -1 if it has none.
    """

    passage: Passage
    score: float
    key: int = -1


class Retriever(Protocol):
    """Anything that finds passages for queries."""

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """
        Find the passages that fit each query best.

        :param queries: B texts; one without a word finds nothing.
        :param k: the maximum number of passages for each, at least 1.
        :return: B lists, best first.
        """
        ...


def check_search(queries: Sequence[str], k: int) -> None:
    """
    Check the arguments of a search.

    :raises InputError: if queries are not a list of texts, or ``k`` is below 1.
    """
    if isinstance(queries, str) or not all(isinstance(text, str) for text in queries):
        raise InputError('search() takes a list of texts: search(["How long?"], k=5).')
    if k < 1:
        raise InputError(f'k must be at least 1, not {k}.')
