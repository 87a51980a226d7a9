"""
How near passages are to a question: what was found by words, ordered by the vectors of
the shipped encoder, too.

Only the passages that were found are encoded, when they are first found, so that an
index needs no vectors for it.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from parlai_q2.retrieve.dense import weighed
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.presets import SHIPPED_ENCODER
from parlai_q2.retrieve.store import searched

# Vectors that are kept, of 1.5 kB.
MOST_KEPT = 20_000


class Nearness:
    """
    Tells how near passages are to a question: 0.7 of the cosine of their vectors and
    0.3 of the share of the best score of the search.
    """

    def __init__(self, encoder: str = SHIPPED_ENCODER):
        self.encoder = encoder
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()

    def of(self, question: str, found: Sequence[Found]) -> list[float]:
        """
        How near each of N passages is.

        :param question: with a word.
        """
        cosines = self.cosines(question, [searched(one.passage) for one in found])
        best = max((one.score for one in found), default=1.0) or 1.0
        return [
            weighed(cosine, one.score / best)
            for one, cosine in zip(found, cosines, strict=True)
        ]

    def cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosines of a question's vector and those of N texts."""
        if not texts:
            return []
        vectors = np.stack(self._of_texts(texts))  # [N, M]
        products = vectors @ load_encoder(self.encoder).queries([question])[0]
        return [float(one) for one in products]

    def _of_texts(self, texts: Sequence[str]) -> list[np.ndarray]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            vectors = load_encoder(self.encoder).passages(new)
            self._vectors.update(zip(new, vectors, strict=True))
        vectors_of = [self._vectors[text] for text in texts]
        for text in texts:
            self._vectors.move_to_end(text)
        while len(self._vectors) > MOST_KEPT:
            self._vectors.popitem(last=False)
        return vectors_of
