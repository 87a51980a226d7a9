"""
Finds passages by the vectors of a sentence encoder, and fuses them with the passages
found by words: by a weighted sum of both scores (Bruch, Gai and Ingber 2022, arXiv
2210.11934) or, if inner products have no known range, by reciprocal rank (Cormack,
Clarke and Büttcher 2009).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from parlai_q2.retrieve.bm25 import Bm25
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.retriever import Hit, check_search
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.vectors import Vectors

# The paper's constant, and how much of each list is looked at.
RANK_CONSTANT = 60
DEPTH = 100
# Fitted to 900 turns of the training dialogues, others than those that recall is
# measured on: 0.7 found 36.0 % among the first five, reciprocal rank 34.7 %.
COSINE_SHARE, RANK_SHARE = 0.7, 0.5


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

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        return [self.store.hits(near) for near in self.nearest(queries, k)]

    def nearest(self, queries: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """The numbers of the passages nearest to each query, with their products."""
        check_search(queries, k)
        return [
            [] if vector is None else self.vectors.nearest(vector, k)
            for vector in self.encode(queries)
        ]

    def encode(self, queries: Sequence[str]) -> list[np.ndarray | None]:
        """The vector of each query, [M]; None for one without a word."""
        places = [n for n, query in enumerate(queries) if query.strip()]
        encoded: list[np.ndarray | None] = [None] * len(queries)
        if places:
            vectors = self._encode([queries[place] for place in places])
            for place, vector in zip(places, vectors, strict=True):
                encoded[place] = vector
        return encoded

    def _encode(self, queries: Sequence[str]) -> np.ndarray:
        if not self.each_turn:
            return self.encoder.queries(queries)
        turns, ends = list[str](), list[int]()
        for query in queries:
            turns += filter(str.strip, query.splitlines())
            ends.append(len(turns))
        parts = np.split(self.encoder.queries(turns), ends[:-1])
        return np.stack([part.mean(0) for part in parts])


class Fused:
    """
    Finds passages by their words and by their vectors.

    Of an encoder whose vectors have length 1, a passage's score is 0.7 times the cosine
    and 0.3 times the score by words over the best such score.
    """

    def __init__(self, words: Bm25, dense: Dense):
        self.words, self.dense = words, dense

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        depth = max(k, DEPTH)
        results = []
        by_words = self.words.search(queries, depth)
        for hits, vector in zip(by_words, self.dense.encode(queries), strict=True):
            if vector is not None:
                ranked = self._fuse(hits, vector, depth)
                hits = self.dense.store.hits(ranked[:k])
            results.append(hits[:k])
        return results

    def _fuse(
        self, hits: Sequence[Hit], vector: np.ndarray, depth: int
    ) -> list[tuple[int, float]]:
        vectors, keys = self.dense.vectors, [hit.key for hit in hits]
        nearest = vectors.nearest(vector, depth)
        if self.dense.encoder.unit:
            products = zip(keys, vectors.products(vector, keys), strict=True)
            return fuse_scores(hits, {**dict(nearest), **dict(products)})
        near_keys = [key for key, _ in nearest]
        return fuse_ranks([(keys, 1 - RANK_SHARE), (near_keys, RANK_SHARE)])


def fuse_scores(
    hits: Sequence[Hit], cosines: Mapping[int, float]
) -> list[tuple[int, float]]:
    """
    Put what was found by words and by vectors into one list, best first.

    :param cosines: of all passages that either found.
    """
    best = max((hit.score for hit in hits), default=1.0) or 1.0
    shares = {hit.key: hit.score / best for hit in hits}
    return _best_first(
        {key: mix(cosine, shares.get(key, 0.0)) for key, cosine in cosines.items()}
    )


def mix(cosine: float, share: float) -> float:
    """
    Nearness by a vector and by words together.

    :param share: of the best score of a search by words, in [0, 1].
    """
    return COSINE_SHARE * cosine + (1 - COSINE_SHARE) * share


def fuse_ranks(lists: Sequence[tuple[Sequence[int], float]]) -> list[tuple[int, float]]:
    """
    Fuse ranked lists: the sum of ``weight / (60 + rank)``.

    :param lists: each with its weight.

    >>> [key for key, _ in fuse_ranks([([1, 2, 3], 0.5), ([3, 2], 0.5)])]
    [3, 2, 1]
    """
    scores: dict[int, float] = defaultdict(float)
    for keys, weight in lists:
        for rank, key in enumerate(keys, 1):
            scores[key] += weight / (RANK_CONSTANT + rank)
    return _best_first(scores)


def _best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
