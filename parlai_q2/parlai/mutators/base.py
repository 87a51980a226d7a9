"""
The base class of parlai_q2's mutators: their options, their scorer, and the scores of
an episode, which are computed many episodes at once.
"""

from itertools import islice
from typing import Any, Callable, Iterable, Iterator, Optional

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.mutators import ManyEpisodeMutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.cache import CachedScorer
from parlai_q2.cache.rows import Pair
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.filtering.judge import examples_of
from parlai_q2.parlai.filter_options import (
    add_delimiter_option,
    delimiter_from_opt,
)
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer

# The fastest of the scorers with models, since a training set has many turns.
DEFAULT_SCORER = 'consistency'
DEFAULT_BUFFER = 64

Episode = list[dict[str, Any]]


class ScoringMutator(ManyEpisodeMutator):
    """A mutator that scores labels. A subclass sets ``name``, its registered name."""

    name: str

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add the scorer's options and the buffer's."""
        add_scorer_options(parser)
        add_delimiter_option(parser.add_argument_group('Knowledge'))
        group = parser.add_argument_group('Mutators that score')
        group.add_argument(
            '--mutator-scorer',
            type=str,
            default=DEFAULT_SCORER,
            help="the scorer for a task's labels when a mutator needs scores; "
            '--scorer is the one that measures or reranks',
        )
        group.add_argument(
            '--mutator-buffer',
            type=int,
            default=DEFAULT_BUFFER,
            help='how many episodes to score ahead, together with the one needed now; '
            '0 scores each episode alone',
        )
        return parser

    def __init__(self, opt: Opt):
        super().__init__(opt)
        self.delimiter = delimiter_from_opt(opt)
        self._look_ahead: Optional[LookAhead] = None

    @property
    def look_ahead(self) -> 'LookAhead':
        """The scorer, created when it is first needed, in the process that needs it."""
        if self._look_ahead is None:
            scorer = mutator_scorer(self.opt)
            buffer = self.opt.get('mutator_buffer', DEFAULT_BUFFER)
            self._look_ahead = LookAhead(
                scorer,
                episode_source(self.opt, self.name),
                buffer if scorer.has_models else 0,
                self.delimiter,
            )
        return self._look_ahead

    def examples(self, episode: list[Message]) -> list[list[Example]]:
        """What to score in an episode: for each turn, one example for each label."""
        return examples_of(episode, self.delimiter)

    def scores(self, examples: list[list[Example]]) -> list[list[Score]]:
        """The scores of examples, in the same shape."""
        return self.look_ahead.scores(examples)


def mutator_scorer(opt: Opt) -> Scorer:
    """The mutators' scorer that an ``opt`` asks for, with the score cache."""
    own: dict[str, Any] = {'scorer': opt.get('mutator_scorer') or DEFAULT_SCORER}
    if opt.get('background_index') is not None and not opt.get('scorer_device'):
        # A process that ParlAI forked cannot use its parent's GPU.
        own['scorer_device'] = 'cpu'
    return scorer_from_opt({**opt, **own}, cache=True)


class LookAhead:
    """
    Takes single episodes, and scores each together with the ones that come next.

    ParlAI passes a mutator one episode at a time, but a scorer is several times faster
    on many. So whenever an episode has no score yet, the batch is filled up with the
    next episodes of the data, which a second teacher of the same task reads. Each is
    scored once, and scores in the cache on disk are not computed again. A score does
    not depend on the rest of its batch, so neither the order, nor the number of
    processes, nor the size of the buffer changes a score.

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
        batch = {_pair(e): e for turn in examples for e in turn}
        if not self._known(batch):
            batch.update({_pair(e): e for e in self._next()})
        found = {} if self._on_disk() else self._held
        new = {p: e for p, e in batch.items() if p not in found}
        if new:
            found.update(zip(new, self.scorer.score(list(new.values()))))
        return [[found[_pair(e)] for e in turn] for turn in examples]

    def _known(self, pairs: Iterable[Pair]) -> bool:
        # Blank texts are not in the cache, nor do they need it.
        rest = [p for p in pairs if p not in self._held and all(t.strip() for t in p)]
        if rest and isinstance(self.scorer, CachedScorer):
            signature = str(self.scorer.signature)
            return len(self.scorer.cache.get(signature, rest)) == len(rest)
        return not rest

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


def episode_source(opt: Opt, mutator: str) -> Callable[[], Iterator[Episode]]:
    """
    A function that reads a task's episodes as the mutator of that name receives them,
    that is with all earlier mutators applied. Of several background processes, each
    reads its share.
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
