"""
Scores the labels of batches with an engine. Scores from other processes are also kept
in this machine's score cache, so that a stopped run resumes.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from parlai_q2.claims import Score
from parlai_q2.filtering.judge import Batch, LabelledEpisode, ScoringItem
from parlai_q2.runs.file_run import JobEngine, Loaded
from parlai_q2.runs.score_job import MakeScorer
from parlai_q2.scorers.shell import Pair, Reuse, make_pair

Scores = dict[Pair, Score]
# A batch, the pairs of its labels, and the scores that were kept of them.
LookedUp = tuple[Batch, list[Pair], Scores]


@dataclass(frozen=True)
class LabelJob:
    """Scores labels; for one that crashes every process, the result is a message."""

    make_scorer: MakeScorer

    def load(self, device: str | None = None) -> Loaded:
        scorer = self.make_scorer(device)

        def process(items: Sequence[ScoringItem]) -> list[Score]:
            return scorer.score([item.example for item in items])

        return Loaded(str(scorer.signature), process)

    def report_lost(self, item: ScoringItem, problem: str) -> str:
        return f'{item.place} could not be scored: {problem}'


def score_batches(
    batches: Iterable[Batch],
    engine: JobEngine,
    reuse: Reuse | None = None,
    report_problem: Callable[[str], None] = lambda problem: None,
) -> Generator[tuple[list[LabelledEpisode], list[Score | None]], None, None]:
    """
    Yield the episodes of each batch with the scores of their labels, None for one that
    crashes every process. The engine runs a :class:`LabelJob`; scores are looked up and
    kept in ``reuse``, unless the scorer itself does so.
    """

    def look_up() -> Iterator[tuple[LookedUp, list[ScoringItem]]]:
        for batch in batches:
            pairs = [make_pair(item.example) for item in batch.items]
            stored = reuse.store.get(engine.signature, pairs) if reuse else {}
            with_pairs = zip(batch.items, pairs, strict=True)
            missing = [item for item, pair in with_pairs if pair not in stored]
            yield (batch, pairs, stored), missing

    with closing(engine.run(look_up())) as results:
        for (batch, pairs, stored), outcomes in results:
            missing = [pair for pair in pairs if pair not in stored]
            scores = {}
            for pair, outcome in zip(missing, outcomes, strict=True):
                if isinstance(outcome, str):
                    report_problem(outcome)
                else:
                    scores[pair] = outcome
            if reuse:
                reuse.store.put(engine.signature, scores)
                reuse.hits += len(pairs) - len(missing)
                reuse.misses += len(missing)
            scores |= stored
            yield batch.episodes, [scores.get(pair) for pair in pairs]
