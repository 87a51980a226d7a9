"""
Scores examples that are not in files of records, such as the labels of a task, with an
engine. Scores from other processes are also kept in this machine's score cache, so that
a stopped run resumes.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Protocol

from parlai_q2.claims import Score
from parlai_q2.runs.file_run import JobEngine, Key, Loaded
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


def score_chunks(
    chunks: Iterator[tuple[Key, Sequence[Item]]],
    engine: JobEngine,
    reuse: Reuse | None = None,
    report_problem: Callable[[str], None] = lambda problem: None,
) -> Generator[tuple[Key, list[Score | None]], None, None]:
    """
    Yield the key of each chunk with the scores of its items, None for one that crashes
    every process. The engine runs a :class:`LabelJob`; scores are looked up and kept in
    ``reuse``, unless the scorer itself does so.
    """

    def look_up() -> Iterator[
        tuple[tuple[Key, list[Pair], dict[Pair, Score]], list[Item]]
    ]:
        for key, items in chunks:
            pairs = [make_pair(item.example) for item in items]
            stored = reuse.store.get(engine.signature, pairs) if reuse else {}
            missing = [item for item, pair in zip(items, pairs) if pair not in stored]
            yield (key, pairs, stored), missing

    with closing(engine.run(look_up())) as results:
        for (key, pairs, stored), outcomes in results:
            missing = [pair for pair in pairs if pair not in stored]
            scores = dict[Pair, Score]()
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
            yield key, [scores.get(pair) for pair in pairs]
