"""
``--mutators q2_control_tokens``: tells a model how faithful its reference is.

See :mod:`parlai_q2.filtering.control`. In training, the tokens before a text describe
its label; in validation, test and ``train:evalmode`` they ask for the best values. A
model's history keeps the tokens of earlier turns. To put the tokens once before the
whole context, as in the paper, use ``--mutators flatten+q2_control_tokens``. With
``--special-tok-lst`` each becomes one token of the model's dictionary.
"""

from typing import Any, Iterable, Optional

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.mutators import register_mutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.data import DatatypeHelper

from parlai_q2.errors import ConfigError
from parlai_q2.filtering.control import (
    BEST,
    PrecisionGroups,
    control_tokens,
    lexical_precision,
    terciles,
)
from parlai_q2.filtering.judge import examples_of
from parlai_q2.parlai.mutators.base import ScoringMutator
from parlai_q2.records import Example

NAME = 'q2_control_tokens'
TERCILES = 'terciles'
# The terciles are those of the first responses, up to this number: comparing words is
# fast, but a whole corpus takes a while.
SAMPLE = 20_000
NO_LABEL = Example('', '')


@register_mutator('q2_control_tokens')
class ControlTokensMutator(ScoringMutator):
    """Puts control tokens before each text."""

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Optional[Opt] = None
    ) -> ParlaiParser:
        """Add the options of the features."""
        super().add_cmdline_args(parser, partial_opt)
        group = parser.add_argument_group('Control tokens')
        group.add_argument(
            '--control-precision',
            type=str,
            default=TERCILES,
            help='where medium and high lexical precision begin: terciles of the '
            f'first {SAMPLE} training labels, or two numbers in [0, 1], e.g. 0.4,0.7',
        )
        return parser

    def __init__(self, opt: Opt):
        super().__init__(opt)
        given = opt.get('control_precision', TERCILES)
        self._groups = None if given == TERCILES else groups_from(given)

    @property
    def groups(self) -> PrecisionGroups:
        """The groups of lexical precision, always from the training labels."""
        if self._groups is None:
            found: list[float] = []
            for episode in training_episodes(self.opt):
                for turn in examples_of(episode, self.delimiter):
                    found += map(lexical_precision, turn[:1])
                if len(found) >= SAMPLE:
                    break
            self._groups = terciles(found)
            logging.info(
                f'Terciles of the lexical precision of {len(found)} training labels: '
                f'--control-precision {self._groups.medium},{self._groups.high}'
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
        examples = [of_turn[:1] for of_turn in self.examples(episode)]
        return [
            control_tokens(
                of_turn[0] if of_turn else NO_LABEL,
                score[0] if score else None,
                self.groups,
            )
            for of_turn, score in zip(examples, self.scores(examples))
        ]


def training_episodes(opt: Opt) -> Iterable[list[dict[str, Any]]]:
    """The training episodes of a task as this mutator receives them."""
    # Imported late: a world needs agents, which a user of the names alone does not.
    from parlai_q2.parlai.task_episodes import TaskEpisodes

    names = (opt.get('mutators') or '').replace('+', ',').split(',')
    before = '+'.join(names[: names.index(NAME)]) or None
    return TaskEpisodes(Opt({**opt, 'datatype': 'train', 'mutators': before}))


def groups_from(given: str) -> PrecisionGroups:
    """Parse two numbers separated by a comma; a ConfigError for anything else."""
    try:
        medium, high = map(float, given.split(','))
    except ValueError as e:
        raise ConfigError(
            f'--control-precision must be {TERCILES} or two numbers, e.g. '
            f'0.4,0.7; not {given!r}.'
        ) from e
    return PrecisionGroups(medium, high)
