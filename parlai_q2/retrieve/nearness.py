"""
How near passages are to a question: what was found by words, ordered by the vectors of
the shipped encoder, too, and by what the question names as it is written in code.

Only the passages that were found are encoded, when they are first found, so that an
index needs no vectors for it.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from parlai_q2.retrieve.dense import weighed
from parlai_q2.retrieve.encoder import load_encoder
from parlai_q2.retrieve.found import Found
from parlai_q2.retrieve.presets import SHIPPED_ENCODER
from parlai_q2.retrieve.readers.block import find_cells
from parlai_q2.retrieve.store import searched
from parlai_q2.retrieve.words import literals
from parlai_q2.turns import Passage

# Vectors that are kept, of 1.5 kB.
MOST_KEPT = 20_000
# What a passage is nearer for that has all literals of a question; those that a larger
# share of what was found has, such as the project's name, tell nothing.
PER_LITERAL, COMMON = 0.15, 0.3


class Nearness:
    """
    Tells how near passages are to a question: 0.7 of the cosine of their vectors and
    0.3 of the share of the best score of the search; and more where they have what the
    question names literally.
    """

    def __init__(self, encoder: str = SHIPPED_ENCODER):
        self.encoder = encoder
        self._vectors: OrderedDict[str, np.ndarray] = OrderedDict()
        self._asked: dict[str, np.ndarray] = {}

    def of(self, question: str, found: Sequence[Found]) -> list[float]:
        """
        How near each of N passages is.

        :param question: with a word.
        """
        cosines = self.cosines(question, [_said(one.passage) for one in found])
        best = max((one.score for one in found), default=1.0) or 1.0
        named = _literal_shares(question, [one.passage.text for one in found])
        return [
            weighed(cosine, one.score / best) + PER_LITERAL * share
            for one, cosine, share in zip(found, cosines, named, strict=True)
        ]

    def cosines(self, question: str, texts: Sequence[str]) -> list[float]:
        """The cosines of a question's vector and those of N texts."""
        if not texts:
            return []
        vectors = np.stack(self._of_texts(texts))  # [N, M]
        if question not in self._asked:
            # Asked of passages, and then of their headings.
            self._asked = {question: load_encoder(self.encoder).queries([question])[0]}
        products = vectors @ self._asked[question]
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


def _said(passage: Passage) -> str:
    """A passage as it is encoded; a row without its columns' names."""
    if cells := find_cells(passage.text):
        first, *others = (cell.text for cell in cells)
        passage = passage._replace(text=f'{first}: {"; ".join(others)}')
    return searched(passage)


def _literal_shares(question: str, texts: Sequence[str]) -> list[float]:
    """What share of the telling literals of a question each text has."""
    having = [
        [
            re.search(rf'(?<![\w-]){re.escape(name)}(?![\w-])', text) is not None
            for text in texts
        ]
        for name in literals(question)
    ]
    telling = [one for one in having if 0 < sum(one) <= COMMON * len(texts)]
    if not telling:
        return [0.0] * len(texts)
    return [sum(one) / len(telling) for one in zip(*telling, strict=True)]
