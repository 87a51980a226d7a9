"""
Any scorer, with its scores kept on disk.
"""

from typing import Sequence

from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.stand_in import StandInScorer
from parlai_q2.store.score_store import ScoreStore

# Scores in one write: what a killed run can lose, and still many batches of a model.
CHUNK = 256


class CachedScorer(StandInScorer[Scorer]):
    """
    Scores only what the store does not have.

    :param scorer: what scores.
    :param store: where scores are kept.
    :param chunk: examples in one call of the scorer and in one write.
    """

    def __init__(self, scorer: Scorer, store: ScoreStore, chunk: int = CHUNK):
        super().__init__(scorer)
        self.store, self.chunk = store, chunk
        # Responses that were found in the store, and that had to be scored.
        self.hits = self.misses = 0

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature = str(self.signature)
        pairs = [(e.knowledge, e.response) for e in examples]
        scores = self.store.get(signature, pairs)
        missing = [
            example for pair, example in zip(pairs, examples) if pair not in scores
        ]
        self.hits += len(examples) - len(missing)
        self.misses += len(missing)
        for some in portions(missing, self.chunk):
            made = {
                (example.knowledge, example.response): score
                for example, score in zip(some, self.scorer.score(some), strict=True)
            }
            self.store.put(signature, made)
            scores.update(made)
        return [scores[pair] for pair in pairs]


def portions(examples: Sequence[Example], size: int) -> list[Sequence[Example]]:
    """
    Examples in portions of a size. A rest of less than half of it goes with the one
    before: a few responses alone fill no batch.

    :param examples: any number.
    :param size: at least 1.
    """
    starts = list(range(0, len(examples), size))
    if len(starts) > 1 and len(examples) - starts[-1] < size / 2:
        starts.pop()
    return [examples[a:b] for a, b in zip(starts, [*starts[1:], len(examples)])]
