"""
Finds passages by their words: BM25 (Robertson and Zaragoza 2009).

A turn of a conversation is not a list of keywords: "hello, do you want to talk about
Leighton?". How much each common word of conversation tells of the passage that the
reply rests on was measured (:mod:`~parlai_q2.retrieve.chat_words`), and such words
count less. Function words count only where a query has nothing else.
"""

from collections.abc import Sequence

from parlai_q2.errors import InputError
from parlai_q2.retrieve.chat_words import weight_of
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.store import Store
from parlai_q2.retrieve.words import literals, words_of

# Words that count less are looked up only where nothing else is left: they are the
# common ones, which take the time.
LEAST = 0.15
# More words than these make a search slow and not better: the rarest are kept.
MOST_WORDS = 64


class Bm25:
    """
    Finds passages by their words.

    :param weighted: whether words of conversation count less.
    """

    def __init__(self, store: Store, weighted: bool = True):
        self.store, self.weighted = store, weighted

    def search(self, queries: Sequence[str], k: int) -> list[list[Found]]:
        """As :meth:`~parlai_q2.retrieve.found.Retriever.search`."""
        check_search(queries, k)
        return [self._search(query, k) for query in queries]

    def weights(self, query: str) -> dict[str, float]:
        """What each word of a query counts."""
        words = dict.fromkeys(words_of(query, self.store.language))
        if not self.weighted or self.store.language != 'english':
            weights = {word: 1.0 for word in words}
        else:
            # The "why" of "/why" is no word of conversation.
            named = {*words_of(' '.join(literals(query)))}
            weights = {w: 1.0 if w in named else weight_of(w) for w in words}
            telling = {word: w for word, w in weights.items() if w >= LEAST}
            weights = telling or weights
        if len(weights) > MOST_WORDS:
            rarest = sorted(weights, key=self.store.count_with)[:MOST_WORDS]
            weights = {word: w for word, w in weights.items() if word in set(rarest)}
        return weights

    def _search(self, query: str, k: int) -> list[Found]:
        return [Found(*one) for one in self.store.best(self.weights(query), k)]


def check_search(queries: Sequence[str], k: int) -> None:
    """
    Refuse what cannot be searched for.

    :raises InputError: if queries are one text or hold something else, or ``k`` is
        below 1.
    """
    if isinstance(queries, str) or not all(isinstance(one, str) for one in queries):
        raise InputError('search() takes a list of texts: search(["How long?"], k=5).')
    if k < 1:
        raise InputError(f'k must be at least 1, not {k}.')
