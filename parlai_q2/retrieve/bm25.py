"""
Finds passages by their words: BM25 (Robertson and Zaragoza 2009).

A turn of a conversation is not a list of keywords: "hello, do you want to talk about
Leighton?". Words of conversation count less, and only where a query has nothing else do
those that tell least.
"""

from collections.abc import Sequence

from parlai_q2.retrieve.retriever import Hit, check_search
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.words import chat_weight, find_literals, words_of

# Words that count less are looked up only where nothing else is left: they are the
# common ones, which take the time.
LEAST_WEIGHT = 0.15
# More words than these make a search slow and not better: the rarest are kept.
MAX_WORDS = 64


class Bm25:
    """
    Finds passages by their words.

    :param weighted: whether words of conversation count less.
    """

    def __init__(self, store: Store, weighted: bool = True):
        self.store, self.weighted = store, weighted

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As :meth:`~parlai_q2.retrieve.retriever.Retriever.search`."""
        check_search(queries, k)
        return [self.store.best(self.weights(query), k) for query in queries]

    def weights(self, query: str) -> dict[str, float]:
        """What each word of a query counts."""
        words = dict.fromkeys(words_of(query, self.store.language))
        weights = dict.fromkeys(words, 1.0)
        if self.weighted and self.store.language == 'english':
            # The "why" of "/why" is no word of conversation.
            literal_words = set(words_of(' '.join(find_literals(query))))
            weights |= {w: chat_weight(w) for w in words if w not in literal_words}
            telling = {w: x for w, x in weights.items() if x >= LEAST_WEIGHT}
            weights = telling or weights
        if len(weights) > MAX_WORDS:
            rarest = set(sorted(weights, key=self.store.count_with)[:MAX_WORDS])
            weights = {word: w for word, w in weights.items() if word in rarest}
        return weights
