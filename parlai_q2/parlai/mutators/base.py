"""
The base class of parlai_q2's mutators: their options, scorer and scores.

Labels are scored many at a time: those of an episode together with those of the
episodes after it (:mod:`.ahead`).
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from parlai.core.message import Message
from parlai.core.mutators import ManyEpisodeMutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.claims import Score
from parlai_q2.cli.knowledge_options import add_knowledge_options, source_from_opt
from parlai_q2.cli.scorer_options import add_scorer_options, judge_from_opt
from parlai_q2.filtering.judge import CHUNK, make_examples
from parlai_q2.models.device import AUTO, CPU
from parlai_q2.parlai.mutators.ahead import in_order, upcoming, watch_teachers
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.scorers.shell import make_pair
from parlai_q2.turns import Example

# The episodes to look at for CHUNK labels at most, and the scores to keep in memory.
MOST_EPISODES, MOST_SCORES = 4 * CHUNK, 16 * CHUNK
# How often something else may come than was looked at.
MOST_SURPRISES = 2

watch_teachers()


class ScoringMutator(ManyEpisodeMutator):
    """A mutator that scores labels, with the score cache."""

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the scorer's options."""
        add_knowledge_options(parser.add_argument_group('Knowledge'))
        return add_scorer_options(parser, Role.CHOOSE)

    def __init__(self, opt: Opt):
        super().__init__(opt)
        self.source = source_from_opt(opt)
        self._scorer: Scorer | None = None
        self._teacher: tuple[Any, int] | None = None
        self._scores: OrderedDict[tuple[Any, ...], Score] = OrderedDict()
        # How many episodes were looked at and have not come yet, and how often in a row
        # something else came.
        self._seen_ahead = self._surprises = 0

    @property
    def scorer(self) -> Scorer:
        """The scorer, created when it is first needed, in the process that needs it."""
        if self._scorer is None:
            self._scorer = mutator_scorer(self.opt)
        return self._scorer

    def examples(self, episode: list[Message]) -> list[list[Example]]:
        """What to score in an episode: for each turn, one example for each label."""
        return make_examples(episode, self.source)

    def examples_to_score(self, examples: Sequence[Sequence[Example]]) -> list[Example]:
        """Of an episode's examples, those that are scored: the first of each turn."""
        return [of_turn[0] for of_turn in examples if of_turn]

    def will_read(self, teacher: Any, place: int) -> None:
        """Learn whose episodes it gets; see :mod:`.ahead`."""
        self._teacher = teacher, place

    def scores(self, examples: Sequence[Sequence[Example]]) -> list[Score]:
        """
        The scores of the :meth:`examples_to_score` of an episode, in order. Where one
        is not known, the next episodes are scored in the same call.
        """
        pending = self.examples_to_score(examples)
        new = [example for example in pending if make_pair(example) not in self._scores]
        if new:
            self._surprises += self._seen_ahead > 0
            together = self._ahead(new) if self._may_look() else new
            for example, score in zip(together, self.scorer.score(together)):
                self._scores[make_pair(example)] = score
        elif self._seen_ahead:
            self._seen_ahead -= 1
            self._surprises *= self._seen_ahead > 0
        ordered = [self._scores[make_pair(example)] for example in pending]
        while len(self._scores) > MOST_SCORES:
            self._scores.popitem(last=False)
        return ordered

    def first_labels(
        self, episode: list[Message]
    ) -> list[tuple[Example | None, Score | None]]:
        """The first label of each turn and its score; None without a label."""
        examples = self.examples(episode)
        scores = iter(self.scores(examples))
        return [
            (of_turn[0], next(scores)) if of_turn else (None, None)
            for of_turn in examples
        ]

    def _may_look(self) -> bool:
        # Mutators before this one that draw random numbers show other texts each time.
        if self._surprises > MOST_SURPRISES or self._teacher is None:
            return False
        # In random order, what was seen comes much later: only the cache still has it.
        return in_order(self._teacher[0]) or self.opt.get('cache') is not False

    def _ahead(self, pending: Sequence[Example]) -> list[Example]:
        """
        What is wanted of the next episodes and not known, to fill a call of the scorer.
        """
        assert self._teacher is not None
        batch = {make_pair(example): example for example in pending}
        missing = CHUNK - len(batch)
        episodes = 0
        for episode in upcoming(*self._teacher) if missing > 0 else ():
            for example in self.examples_to_score(self.examples(episode)):
                if make_pair(example) not in self._scores:
                    batch.setdefault(make_pair(example), example)
            episodes += 1
            if len(batch) >= CHUNK or episodes >= MOST_EPISODES:
                break
        self._seen_ahead = episodes if in_order(self._teacher[0]) else 0
        return list(batch.values())


def mutator_scorer(opt: Opt) -> Scorer:
    """The mutators' scorer that an ``opt`` asks for, with the score cache."""
    device: dict[str, Any] = {}
    is_open = opt.get('scorer_device') in (None, AUTO)
    if opt.get('background_index') is not None and is_open:
        # A process that ParlAI forked cannot use its parent's GPU.
        device['scorer_device'] = CPU
    return judge_from_opt({**opt, **device}, Role.CHOOSE)
