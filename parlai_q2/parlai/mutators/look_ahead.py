"""
Scores episodes as they come, together with the ones that come next.

ParlAI passes a mutator one episode at a time, but a scorer is several times faster on
many. So whenever an episode has no score yet, the batch is filled up with the next
episodes of the data, which a second teacher of the same task reads. Whether the task
shows its episodes in order or at random, each is scored once, in a batch, and scores in
the cache on disk are not computed again. A score does not depend on the rest of its
batch, so the order, the number of processes and the size of the buffer change no score.
"""

from itertools import islice
from typing import Any, Callable, Iterator, Optional

import parlai.utils.logging as logging
from parlai.core.opt import Opt

from parlai_q2.cache import CachedScorer
from parlai_q2.cache.rows import Pair
from parlai_q2.filtering.judge import examples_of
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer

Episode = list[dict[str, Any]]


class LookAhead:
    """
    Takes single episodes, and scores many at once.

    :param scorer: the scorer. Scores are kept in its cache if it has one, else in
        memory.
    :param read: iterates once over the task's episodes, from the first.
    :param buffer: how many of them are scored along with an episode without scores.
    :param delimiter: what separates knowledge from the message inside texts.
    """

    def __init__(
        self,
        scorer: Scorer,
        read: Callable[[], Iterator[Episode]],
        buffer: int,
        delimiter: Optional[str] = None,
    ):
        self.scorer, self.buffer, self.delimiter = scorer, buffer, delimiter
        self._read = read
        self._episodes: Optional[Iterator[Episode]] = None
        self._held: dict[Pair, Score] = {}

    def scores(self, examples: list[list[Example]]) -> list[list[Score]]:
        """The scores of one episode, in the same shape."""
        wanted = {_pair(e): e for turn in examples for e in turn}
        found = self._known(wanted)
        if len(found) < len(wanted):
            batch = {**wanted, **{_pair(e): e for e in self._next()}}
            new = {p: e for p, e in batch.items() if p not in self._held}
            scored = dict(zip(new, self.scorer.score(list(new.values()))))
            found.update(scored)
            if not self._on_disk():
                self._held.update(scored)
        return [[found[_pair(e)] for e in turn] for turn in examples]

    def _known(self, wanted: dict[Pair, Example]) -> dict[Pair, Score]:
        found = {p: self._held[p] for p in wanted if p in self._held}
        rest = [p for p in wanted if p not in found]
        if rest and isinstance(self.scorer, CachedScorer):
            # Blank texts are not in the cache, nor do they need it.
            found.update(self.scorer.cache.get(str(self.scorer.signature), rest))
        blank = [p for p in rest if not all(text.strip() for text in p)]
        if blank:
            scores = self.scorer.score([wanted[p] for p in blank])
            found.update(zip(blank, scores))
        return found

    def _on_disk(self) -> bool:
        return isinstance(self.scorer, CachedScorer) and self.scorer.cache.usable

    def _next(self) -> Iterator[Example]:
        if self.buffer <= 0:
            return
        try:
            if self._episodes is None:
                self._episodes = self._read()
            episodes = list(islice(self._episodes, self.buffer))
        except Exception as e:
            logging.warning(
                f'Episodes cannot be scored ahead ({type(e).__name__}: {e}); they are '
                'scored one at a time, which takes longer. --mutator-buffer 0 does the '
                'same without this message.'
            )
            self.buffer = 0
            return
        for episode in episodes:
            for turn in examples_of(episode, self.delimiter):
                yield from turn


def reader(opt: Opt, mutator: str) -> Callable[[], Iterator[Episode]]:
    """
    A function that reads a task's episodes as a mutator receives them, that is with all
    earlier mutators applied.

    With several background processes, each reads its share.

    :param opt: the teacher's options.
    :param mutator: the mutator's name.
    """
    before = []
    for name in (opt.get('mutators') or '').replace('+', ',').split(','):
        if name == mutator:
            break
        before.append(name)
    index, step = opt.get('background_index'), max(opt.get('num_workers') or 1, 1)

    def read() -> Iterator[Episode]:
        # Imported late: a world needs agents, which a user of the names alone does not.
        from parlai_q2.parlai.task_episodes import TaskEpisodes

        episodes = TaskEpisodes(Opt({**opt, 'mutators': '+'.join(before) or None}))
        if index is None:
            return iter(episodes)
        return islice(iter(episodes), index % step, None, step)

    return read


def _pair(example: Example) -> Pair:
    return example.knowledge, example.response
