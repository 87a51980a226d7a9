"""
``--mutators q2_control_tokens``: adds tokens that describe how faithful the label is.

See :mod:`parlai_q2.filtering.control`. In training, the tokens before a text describe
its label; in validation, test and ``train:evalmode`` they ask for the best values. A
model's history keeps the tokens of earlier turns. To put the tokens once before the
whole context, as in the paper, use ``--mutators flatten+q2_control_tokens``. With
``--special-tok-lst`` each becomes one token of the model's dictionary.
"""

from collections.abc import Iterable
from typing import Any

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.mutators import register_mutator
from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper

from parlai_q2.filtering.control import (
    BEST,
    PrecisionGroups,
    control_tokens,
    lexical_precision,
    terciles,
)
from parlai_q2.filtering.judge import make_examples
from parlai_q2.parlai.mutators.base import ScoringMutator
from parlai_q2.turns import Example

NAME = 'q2_control_tokens'
# The terciles are those of the first responses, up to this number: comparing words is
# fast, but a whole corpus takes a while.
SAMPLE = 20_000
NO_LABEL = Example('', '')


@register_mutator('q2_control_tokens')
class ControlTokensMutator(ScoringMutator):
    """Puts control tokens before each text."""

    def __init__(self, opt: Opt):
        super().__init__(opt)
        self._groups: PrecisionGroups | None = None

    @property
    def groups(self) -> PrecisionGroups:
        """The groups of lexical precision, always from the training labels."""
        if self._groups is None:
            shares: list[float] = []
            for episode in training_episodes(self.opt):
                for turn in make_examples(episode, self.source):
                    shares += map(lexical_precision, turn[:1])
                if len(shares) >= SAMPLE:
                    break
            self._groups = terciles(shares)
            logging.info(
                f'Terciles of the lexical precision of {len(shares)} training labels: '
                f'{self._groups.medium:.3f} and {self._groups.high:.3f}'
            )
        return self._groups

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """The episode with tokens before its texts."""
        for message, tokens in zip(episode, self._tokens(episode)):
            text = message.get('text')
            words = [*tokens, *([] if text is None else [text])]
            message.force_set('text', ' '.join(words))
        return [episode]

    def _tokens(self, episode: list[Message]) -> list[list[str]]:
        if not DatatypeHelper.is_training(self.opt['datatype']):
            return [BEST] * len(episode)
        return [
            control_tokens(example or NO_LABEL, score, self.groups)
            for example, score in self.first_labels(episode)
        ]


def training_episodes(opt: Opt) -> Iterable[list[dict[str, Any]]]:
    """The training episodes of a task as this mutator receives them."""
    # Imported late: a world needs agents, which a user of the names alone does not.
    from parlai_q2.parlai.task_episodes import TaskEpisodes

    names = (opt.get('mutators') or '').replace('+', ',').split(',')
    before = '+'.join(names[: names.index(NAME)]) or None
    return TaskEpisodes(Opt({**opt, 'datatype': 'train', 'mutators': before}))
