"""
Finds passages by the vectors of a sentence encoder, and fuses what two searches find by
reciprocal rank (Cormack, Clarke and Büttcher 2009).
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from parlai_q2.retrieve.bm25 import Bm25, check_search
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.vectors import Vectors

# The constant of the paper's section 3, and how much of each list is looked at.
RANK_CONSTANT = 60
DEEP = 100
DENSE_SHARE = 0.5


class Dense:
    """
    Finds passages by their vectors.

    :param encoder: encodes queries: the encoder of the passages or, as DPR has it, its
        partner.
    :param each_turn: whether the vector of a query is the mean of those of its lines,
        the turns.
    """

    def __init__(
        self,
        store: Store,
        vectors: Vectors,
        encoder: TextEncoder,
        each_turn: bool = False,
    ):
        self.store, self.vectors, self.encoder = store, vectors, encoder
        self.each_turn = each_turn

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        return [self.store.found(near) for near in self.nearest(queries, k)]

    def nearest(self, queries: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """The numbers of the passages nearest to each query, with their products."""
        check_search(queries, k)
        asked = [n for n, query in enumerate(queries) if query.strip()]
        found: list[list[tuple[int, float]]] = [[] for _ in queries]
        if asked:
            vectors = self._encoded([queries[n] for n in asked])
            for n, near in zip(asked, self.vectors.nearest(vectors, k), strict=True):
                found[n] = near
        return found

    def _encoded(self, queries: Sequence[str]) -> np.ndarray:
        if not self.each_turn:
            return self.encoder.queries(queries)
        turns = [[t for t in q.splitlines() if t.strip()] for q in queries]
        flat = self.encoder.queries([turn for some in turns for turn in some])
        ends = np.cumsum([len(some) for some in turns])
        parts = np.split(flat, ends[:-1])
        return np.stack([part.mean(0) for part in parts])


class Fused:
    """
    Finds passages by their words and by their vectors.

    :param share: how much the rank by vectors counts; the rank by words counts the
        rest.
    """

    def __init__(self, words: Bm25, dense: Dense, share: float = DENSE_SHARE):
        self.words, self.dense, self.share = words, dense, share

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        deep = max(k, DEEP)
        near = self.dense.nearest(queries, deep)
        found = []
        for by_words, by_vectors in zip(
            self.words.search(queries, deep), near, strict=True
        ):
            lists = (
                ([one.key for one in by_words], 1 - self.share),
                ([key for key, _ in by_vectors], self.share),
            )
            found.append(self.dense.store.found(fused(lists)[:k]))
        return found


def fused(lists: Sequence[tuple[Sequence[int], float]]) -> list[tuple[int, float]]:
    """
    Ranked lists as one: the sum of ``weight / (60 + rank)``.

    :param lists: each with its weight.

    >>> [key for key, _ in fused([([1, 2, 3], 0.5), ([3, 2], 0.5)])]
    [3, 2, 1]
    """
    scores: dict[int, float] = defaultdict(float)
    for keys, weight in lists:
        for rank, key in enumerate(keys, 1):
            scores[key] += weight / (RANK_CONSTANT + rank)
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))
