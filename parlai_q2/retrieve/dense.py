"""
Finds passages by the vectors of a sentence encoder, and fuses that with what is found
by words: by a weighted sum of both scores (Bruch, Gai and Ingber 2022, arXiv
2210.11934) or, where inner products have no known range, by reciprocal rank (Cormack,
Clarke and Büttcher 2009).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Optional

import numpy as np

from parlai_q2.retrieve.bm25 import Bm25, check_search
from parlai_q2.retrieve.encoder import TextEncoder
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.vectors import Vectors

# The paper's constant, and how much of each list is looked at.
RANK_CONSTANT = 60
DEEP = 100
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

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        return [self.store.found(near) for near in self.nearest(queries, k)]

    def nearest(self, queries: Sequence[str], k: int) -> list[list[tuple[int, float]]]:
        """The numbers of the passages nearest to each query, with their products."""
        check_search(queries, k)
        return [
            [] if query is None else next(self.vectors.nearest(query[None], k))
            for query in self.encoded(queries)
        ]

    def encoded(self, queries: Sequence[str]) -> list[Optional[np.ndarray]]:
        """The vector of each query, [M]; None for one without a word."""
        asked = [n for n, query in enumerate(queries) if query.strip()]
        found: list[Optional[np.ndarray]] = [None] * len(queries)
        if asked:
            vectors = self._encoded([queries[n] for n in asked])
            for n, vector in zip(asked, vectors, strict=True):
                found[n] = vector
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

    Of an encoder whose vectors have length 1, a passage's score is 0.7 times the cosine
    and 0.3 times the score by words over the best such score.
    """

    def __init__(self, words: Bm25, dense: Dense):
        self.words, self.dense = words, dense

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        deep = max(k, DEEP)
        by_words = self.words.search(queries, deep)
        asked = self.dense.encoded(queries)
        store, found = self.dense.store, []
        for words, query in zip(by_words, asked, strict=True):
            if query is None:
                found.append(words[:k])
                continue
            (near,) = self.dense.vectors.nearest(query[None], deep)
            if self.dense.encoder.unit:
                keys = [one.key for one in words]
                own = self.dense.vectors.products(query, keys)
                ranked = summed(words, {**dict(near), **dict(zip(keys, own))})
            else:
                ranked = fused(
                    (
                        ([one.key for one in words], 1 - RANK_SHARE),
                        ([key for key, _ in near], RANK_SHARE),
                    )
                )
            found.append(store.found(ranked[:k]))
        return found


def summed(
    words: Sequence[Found], cosines: Mapping[int, float]
) -> list[tuple[int, float]]:
    """
    What was found by words and by vectors as one list, best first.

    :param cosines: of all passages that either found.
    """
    best = max((one.score for one in words), default=1.0) or 1.0
    said = {one.key: one.score / best for one in words}
    scores = {
        key: weighed(cosine, said.get(key, 0.0)) for key, cosine in cosines.items()
    }
    return _best_first(scores)


def weighed(cosine: float, share: float) -> float:
    """
    Nearness by a vector and by words together.

    :param share: of the best score of a search by words, in [0, 1].
    """
    return COSINE_SHARE * cosine + (1 - COSINE_SHARE) * share


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
    return _best_first(scores)


def _best_first(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    return sorted(scores.items(), key=lambda one: (-one[1], one[0]))
