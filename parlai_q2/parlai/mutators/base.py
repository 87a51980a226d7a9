"""The base class of parlai_q2's mutators: their options, scorer and scores."""

from typing import Any, Optional

from parlai.core.message import Message
from parlai.core.mutators import ManyEpisodeMutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.claims import Score
from parlai_q2.cli.scorer_options import add_scorer_options, judge_from_opt
from parlai_q2.filtering.judge import examples_of
from parlai_q2.parlai.knowledge_options import add_knowledge_options, source_from_opt
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.turns import Example

# The fastest of the scorers with models, since a training set has many turns.
DEFAULT_SCORER = 'consistency'


class ScoringMutator(ManyEpisodeMutator):
    """A mutator that scores labels, an episode at a time, with the score cache."""

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add the scorer's options."""
        add_knowledge_options(parser.add_argument_group('Knowledge'))
        return add_scorer_options(parser, Role.CHOOSE, default=DEFAULT_SCORER)

    def __init__(self, opt: Opt):
        super().__init__(opt)
        self.source = source_from_opt(opt)
        self._scorer: Optional[Scorer] = None

    @property
    def scorer(self) -> Scorer:
        """The scorer, created when it is first needed, in the process that needs it."""
        if self._scorer is None:
            self._scorer = mutator_scorer(self.opt)
        return self._scorer

    def examples(self, episode: list[Message]) -> list[list[Example]]:
        """What to score in an episode: for each turn, one example for each label."""
        return examples_of(episode, self.source)

    def first_labels(
        self, episode: list[Message]
    ) -> list[tuple[Optional[Example], Optional[Score]]]:
        """The first label of each turn and its score; None without a label."""
        examples = [next(iter(of_turn), None) for of_turn in self.examples(episode)]
        scores = iter(self.scorer.score([e for e in examples if e is not None]))
        return [(e, None if e is None else next(scores)) for e in examples]


def mutator_scorer(opt: Opt) -> Scorer:
    """The mutators' scorer that an ``opt`` asks for, with the score cache."""
    own: dict[str, Any] = {}
    if opt.get('background_index') is not None and not opt.get('scorer_device'):
        # A process that ParlAI forked cannot use its parent's GPU.
        own['scorer_device'] = 'cpu'
    return judge_from_opt({**opt, **own}, Role.CHOOSE, DEFAULT_SCORER)
