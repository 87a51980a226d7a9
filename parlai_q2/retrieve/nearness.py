"""
Orders the passages that a search by words returns by nearness to the question: by the
vectors of the shipped encoder, and by names that the question writes as in code.

Only the passages that were found are encoded, when they are first found, so that an
index needs no vectors for it.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from parlai_q2.retrieve.dense import mix
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.presets import SHIPPED_ENCODER
from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.retrieve.retriever import Hit
from parlai_q2.retrieve.store import searched_text
from parlai_q2.retrieve.words import find_literals
from parlai_q2.turns import Passage

# Vectors that are kept, of 1.5 kB.
MAX_KEPT = 20_000
# What a passage is nearer for that has all literals of a question; those that a larger
# share of the hits has, such as the project's name, tell nothing.
LITERAL_BONUS, COMMON = 0.15, 0.3


class Nearness:
    """
    Tells how near passages are to a question: 0.7 of the cosine of their vectors and
    0.3 of the share of the best score of the search; and more where they have what the
    question names literally.
    """

    def __init__(self, encoder: str = SHIPPED_ENCODER):
        self.encoder = encoder
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()
        self._queries: dict[str, np.ndarray] = {}

    def measure(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """
        Measure how near each of N passages is.

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
        if question not in self._queries:
            # Asked of passages, and then of their headings.
            (query,) = load_encoder(self.encoder).queries([question])
            self._queries = {question: query}
        products: list[float] = (vectors @ self._queries[question]).tolist()
        return products

    def _encode(self, texts: Sequence[str]) -> list[np.ndarray]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = load_encoder(self.encoder).passages(new)
            self._vectors.update(zip(new, vectors, strict=True))
        encoded = [self._vectors[text] for text in texts]
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > MAX_KEPT:
            self._vectors.popitem(last=False)
        return encoded


def encoded_text(passage: Passage) -> str:
    """A passage as it is encoded; a row without its columns' names."""
    if cells := find_cells(passage.text):
        first, *rest = (cell.text for cell in cells)
        passage = passage._replace(text=f'{first}: {"; ".join(rest)}')
    return searched_text(passage)


def literal_shares(question: str, texts: Sequence[str]) -> list[float]:
    """What share of the telling literals of a question each text has."""
    telling = []
    for literal in find_literals(question):
        pattern = re.compile(rf'(?<![\w-]){re.escape(literal)}(?![\w-])')
        present = [pattern.search(text) is not None for text in texts]
        if 0 < sum(present) <= COMMON * len(texts):
            telling.append(present)
    if not telling:
        return [0.0] * len(texts)
    return [sum(column) / len(telling) for column in zip(*telling, strict=True)]
