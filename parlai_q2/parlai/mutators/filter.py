"""``--mutators q2_filter``: trains only on the grounded turns."""

import weakref
from collections.abc import Sequence
from itertools import chain

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.mutators import register_mutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.data import DatatypeHelper

from parlai_q2.errors import ConfigError
from parlai_q2.filtering.conversation import split_at_gaps
from parlai_q2.filtering.judge import judge_episode, read_labels
from parlai_q2.parlai.filter_options import add_filter_options, policy_from_opt
from parlai_q2.parlai.mutators.base import ScoringMutator
from parlai_q2.scorers.roles import DEFAULTS, Role
from parlai_q2.turns import Example

PREFIX = 'q2-filter-'
# ParlAI recurses for every episode that is left out. Python allows about a thousand
# nested calls, and a teacher takes two for each.
MAX_EMPTY = 300


@register_mutator('q2_filter')
class FilterMutator(ScoringMutator):
    """
    Removes turns of the training fold whose labels are not grounded. A removed turn
    stays in the history of the later ones. Of several labels, the grounded ones are
    kept.
    """

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        """Add the options for what is kept, each with the prefix ``--q2-filter-``."""
        super().add_cmdline_args(parser, partial_opt)
        add_filter_options(parser, prefix=PREFIX)
        return parser

    def __init__(self, opt: Opt):
        super().__init__(opt)
        self._empty = 0
        # Whether each distinct turn is kept; told when the program ends.
        self._kept: dict[int, bool] = {}
        weakref.finalize(self, log_counts, self._kept, self.opt)

    def examples_to_score(self, examples: Sequence[Sequence[Example]]) -> list[Example]:
        """All labels are scored."""
        return [*chain.from_iterable(examples)]

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """The kept turns of an episode, as any number of episodes."""
        if DatatypeHelper.fold(self.opt['datatype']) != 'train':
            return [episode]
        policy = policy_from_opt(self.opt, self.scorer.threshold, Role.CHOOSE, PREFIX)
        examples = self.examples(episode)
        scores = iter(self.scores(examples))
        judged = judge_episode(episode, examples, scores, policy, self.source)
        for message, turn in zip(episode, judged):
            key = hash(
                (str(message.get('text')), turn.knowledge, *read_labels(message))
            )
            self._kept[key] = turn.decision.is_kept
        staying = iter([turn for turn in judged if turn.decision.is_kept])
        parts = split_at_gaps(episode, [turn.decision.is_kept for turn in judged])
        self._empty = 0 if parts else self._empty + 1
        if self._empty >= MAX_EMPTY:
            raise ConfigError(
                f'q2_filter dropped every turn of {MAX_EMPTY} episodes in a row. '
                'Lower --choose-threshold, or filter into a file first: '
                'parlai_q2 filter -t TASK --outfile kept.jsonl'
            )
        episodes = []
        for part in parts:
            messages = []
            for message, turn in zip(part, staying):
                labels = 'labels' if 'labels' in message else 'eval_labels'
                message[labels] = turn.kept_labels
                if turn.knowledge:
                    # In a text with history, the first passage may be another turn's.
                    message.setdefault('knowledge', turn.knowledge)
                messages.append(Message(message))
            episodes.append(messages)
        return episodes


def log_counts(is_kept: dict[int, bool], opt: Opt) -> None:
    """Log how many distinct turns were kept and dropped, and by which scorer."""
    if is_kept:
        count, scorer = (
            sum(is_kept.values()),
            opt.get('choose') or DEFAULTS[Role.CHOOSE],
        )
        logging.info(
            f'q2_filter kept {count:,} of {len(is_kept):,} turns that were read, and '
            f'dropped {len(is_kept) - count:,}, by {scorer}.'
        )
