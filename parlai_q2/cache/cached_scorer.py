"""
Wraps any scorer with a cache on disk.
"""

from typing import Sequence

from parlai_q2.cache.score_store import ScoreStore
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.stand_in import StandInScorer

# Scores per write: about as many as a killed run can lose, and enough to fill many
# batches of a model.
CHUNK = 256


class CachedScorer(StandInScorer[Scorer]):
    """
    Takes scores from a store, and computes only those that it does not have.

    :param scorer: the scorer to wrap.
    :param store: the store that keeps the scores.
    :param chunk: examples per call of the scorer, and per write to the store.
    """

    def __init__(self, scorer: Scorer, store: ScoreStore, chunk: int = CHUNK):
        super().__init__(scorer)
        self.store, self.chunk = store, chunk
        # How many responses were found in the store, and how many had to be scored.
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
    Split examples into portions. If fewer than ``size / 2`` are left over, they join
    the last portion, because a few responses alone would not fill a batch.

    :param examples: any number of examples.
    :param size: the size of a portion, at least 1.
    """
    starts = list(range(0, len(examples), size))
    if len(starts) > 1 and len(examples) - starts[-1] < size / 2:
        starts.pop()
    return [examples[a:b] for a, b in zip(starts, [*starts[1:], len(examples)])]
