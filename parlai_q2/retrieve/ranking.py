"""
Ranks passages by their words (BM25: Robertson and Zaragoza 2009), by the vectors of a
sentence encoder, and by both: as a weighted sum of the scores (Bruch, Gai and Ingber
2022, arXiv 2210.11934) or, if inner products have no known range, by reciprocal rank
(Cormack, Clarke and Büttcher 2009).

A turn of a conversation is not a list of keywords: "hello, do you want to talk about
Leighton?". Words of conversation count less, and those with the least information count
only if a query has no others.
"""

import re
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, islice

import numpy as np

from parlai_q2.retrieve.encoder import TextEncoder, load_encoder
from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.retrieve.retriever import Hit, check_search
from parlai_q2.retrieve.search import SHIPPED_ENCODER
from parlai_q2.retrieve.store import Store, searched_text
from parlai_q2.retrieve.vectors import Vectors
from parlai_q2.retrieve.words import chat_weight, find_literals, split_words
from parlai_q2.turns import Passage

# Words with a lower weight are looked up only if a query has no others: they are common
# and take the most time.
LEAST_WEIGHT = 0.15
# The maximum number of words in a search, which keeps the rarest: more are slower, but
# not better.
MAX_WORDS = 64

# The paper's constant, and the length of the lists that are fused.
RANK_CONSTANT = 60
DEPTH = 100
# Fitted to 900 turns of the training dialogues, others than those that recall is
# measured on: 0.7 found 36.0 % among the first five, reciprocal rank 34.7 %.
COSINE_SHARE, RANK_SHARE = 0.7, 0.5

# The number of vectors to cache, of 1.5 kB each.
MAX_KEPT = 20_000
# The added nearness of a passage with all literals of a question; literals in a larger
# share of the hits, such as the project's name, are ignored.
LITERAL_BONUS, COMMON = 0.15, 0.3


class Bm25:
    """Finds passages by their words."""

    def __init__(self, store: Store):
        self.store = store

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        check_search(queries, k)
        return [self.store.best(self.weights(query), k) for query in queries]

    def weights(self, query: str) -> dict[str, float]:
        """The weight of each word of a query."""
        words = dict.fromkeys(split_words(query, self.store.language))
        weights = dict.fromkeys(words, 1.0)
        if self.store.language == 'english':
            # The "why" of "/why" is not a word of conversation.
            literal_words = set(split_words(' '.join(find_literals(query))))
            weights |= {w: chat_weight(w) for w in words if w not in literal_words}
            telling = {w: x for w, x in weights.items() if x >= LEAST_WEIGHT}
            weights = telling or weights
        if len(weights) > MAX_WORDS:
            counts = {word: self.store.count_with(word) for word in weights}
            known = [word for word in weights if counts[word]]
            rarest = set(sorted(known, key=counts.__getitem__)[:MAX_WORDS])
            weights = {word: w for word, w in weights.items() if word in rarest}
        return weights


class Dense:
    """
    Finds passages by their vectors.

    :param encoder: encodes queries: the encoder of the passages or, for DPR, its
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
        check_search(queries, k)
        return [
            [] if vector is None else self.store.hits(self.vectors.nearest(vector, k))
            for vector in self.encode(queries)
        ]

    def encode(self, queries: Sequence[str]) -> list[np.ndarray | None]:
        """The vector of each query, [M]; None for one without a word."""
        texts_of_queries = []
        for query in queries:
            texts = query.splitlines() if self.each_turn else [query]
            texts_of_queries.append(list(filter(str.strip, texts)))
        vectors = iter(self.encoder.queries([*chain.from_iterable(texts_of_queries)]))
        return [
            np.mean([*islice(vectors, len(texts))], axis=0) if texts else None
            for texts in texts_of_queries
        ]


class Fused:
    """
    Finds passages by their words and by their vectors.

    For vectors of length 1, a passage's score is 0.7 times the cosine plus 0.3 times
    its score by words over the best such score.
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
    Fuse the passages found by words and by vectors into one list, best first;
    ``cosines`` has all of them.
    """
    best = max((hit.score for hit in hits), default=1.0) or 1.0
    shares = {hit.key: hit.score / best for hit in hits}
    return _best_first(
        {key: mix(cosine, shares.get(key, 0.0)) for key, cosine in cosines.items()}
    )


def mix(cosine: float, share: float) -> float:
    """
    Combine nearness by a vector and by words.

    :param share: the share of the best score of a search by words, in [0, 1].
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


class Nearness:
    """
    Measures how near passages are to a question: 0.7 times the cosine of their vectors
    plus 0.3 times the share of the best score of the search; and more if they have the
    question's literals, such as code.

    Passages are encoded only when they are first found, so an index needs no vectors
    for it.
    """

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()

    def measure(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """
        Measure the nearness of each of N passages.

        :param question: with a word.
        """
        cosines = self.cosines(question, [encoded_text(hit.passage) for hit in hits])
        best = max((hit.score for hit in hits), default=1.0) or 1.0
        shares = literal_shares(question, [hit.passage.text for hit in hits])
        return [
            mix(cosine, hit.score / best) + LITERAL_BONUS * share
            for hit, cosine, share in zip(hits, cosines, shares, strict=True)
        ]

    def cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosines of a question's vector and those of N texts."""
        if not texts:
            return []
        vectors = np.stack(self._encode(texts))  # [N, M]
        (query,) = load_encoder(SHIPPED_ENCODER).queries([question])
        products: list[float] = (vectors @ query).tolist()
        return products

    def _encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = load_encoder(SHIPPED_ENCODER).passages(new)
            self._vectors.update(zip(new, vectors, strict=True))
        encoded = [self._vectors[text] for text in texts]
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > MAX_KEPT:
            self._vectors.popitem(last=False)
        return encoded


def encoded_text(passage: Passage) -> str:
    """The text of a passage to encode; rows lose their columns' names."""
    if cells := find_cells(passage.text):
        first, *rest = (cell.text for cell in cells)
        passage = passage._replace(text=f'{first}: {"; ".join(rest)}')
    return searched_text(passage)


def literal_shares(question: str, texts: Sequence[str]) -> list[float]:
    """The share of a question's informative literals that each text has."""
    telling = []
    for literal in find_literals(question):
        pattern = re.compile(rf'(?<![\w-]){re.escape(literal)}(?![\w-])')
        present = [pattern.search(text) is not None for text in texts]
        if 0 < sum(present) <= COMMON * len(texts):
            telling.append(present)
    if not telling:
        return [0.0] * len(texts)
    return [sum(column) / len(telling) for column in zip(*telling, strict=True)]
