"""
Scores examples that are not in files of records, such as the labels of a task, with an
engine. Scores from other processes are also kept in this machine's score cache, so that
a stopped run resumes.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Generic, Protocol

from parlai_q2.claims import Score
from parlai_q2.runs.file_run import ChunkT, JobEngine, Loaded
from parlai_q2.runs.score_job import MakeScorer
from parlai_q2.scorers.shell import Pair, Reuse, make_pair
from parlai_q2.turns import Example


class Item(Protocol):
    """An example, and its place, for messages."""

    @property
    def example(self) -> Example: ...

    @property
    def place(self) -> str: ...


@dataclass(frozen=True)
class LabelJob:
    """
    Scores examples; for an example that crashes every process, the result is a message.
    """

    make_scorer: MakeScorer

    def load(self, device: str | None = None) -> Loaded:
        scorer = self.make_scorer(device)

        def process(items: Sequence[Item]) -> list[Score]:
            return scorer.score([item.example for item in items])

        return Loaded(str(scorer.signature), process)

    def report_lost(self, item: Item, problem: str) -> str:
        return f'{item.place} could not be scored: {problem}'


@dataclass(frozen=True)
class MissingScores(Generic[ChunkT]):
    """The items of a chunk whose scores are missing, and the scores of the others."""

    items: list[Item]
    chunk: ChunkT
    stored: dict[Pair, Score]


def score_chunks(
    chunks: Iterator[ChunkT],
    engine: JobEngine,
    reuse: Reuse | None = None,
    report_problem: Callable[[str], None] = lambda problem: None,
) -> Generator[tuple[ChunkT, list[Score | None]], None, None]:
    """
    Yield each chunk with the scores of its items, None for one that crashes every
    process. The engine runs a :class:`LabelJob`; scores are looked up and kept in
    ``reuse``, unless the scorer itself does so.
    """

    def look_up() -> Iterator[MissingScores[ChunkT]]:
        for chunk in chunks:
            pairs = [make_pair(item.example) for item in chunk.items]
            stored = reuse.store.get(engine.signature, pairs) if reuse else {}
            missing = [
                item
                for item, pair in zip(chunk.items, pairs, strict=True)
                if pair not in stored
            ]
            yield MissingScores(missing, chunk, stored)

    with closing(engine.run(look_up())) as results:
        for missing, outcomes in results:
            chunk, scores = missing.chunk, dict[Pair, Score]()
            for item, outcome in zip(missing.items, outcomes, strict=True):
                if isinstance(outcome, str):
                    report_problem(outcome)
                else:
                    scores[make_pair(item.example)] = outcome
            if reuse:
                reuse.store.put(engine.signature, scores)
                reuse.hits += len(chunk.items) - len(missing.items)
                reuse.misses += len(missing.items)
            scores |= missing.stored
            yield chunk, [scores.get(make_pair(item.example)) for item in chunk.items]
