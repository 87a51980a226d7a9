"""
ParlAI mutators that score a task's labels against their knowledge. Importing this
module, as all of parlai_q2's agents, tasks and commands do, registers their names with
ParlAI. The labels of an episode are scored in one call.
"""

import weakref
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import chain
from typing import Any

import parlai.utils.logging as logging
from parlai.core.message import Message
from parlai.core.mutators import ManyEpisodeMutator, register_mutator
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.utils.data import DatatypeHelper

from parlai_q2.claims import Score
from parlai_q2.cli.knowledge_options import add_knowledge_options, source_from_opt
from parlai_q2.cli.scorer_options import (
    add_scorer_options,
    judge_from_opt,
    scorer_from_opt,
)
from parlai_q2.errors import ConfigError
from parlai_q2.filtering.control import (
    BEST,
    PrecisionGroups,
    control_tokens,
    lexical_precision,
    terciles,
)
from parlai_q2.filtering.conversation import split_at_gaps
from parlai_q2.filtering.judge import decide_episode, read_labels, read_turns
from parlai_q2.io.knowledge import as_text
from parlai_q2.models.device import AUTO, CPU
from parlai_q2.parlai.filter_options import add_filter_options, policy_from_opt
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.roles import DEFAULTS, Role
from parlai_q2.turns import Example

SCORE, LABEL, EVIDENCE = 'q2_score', 'q2_score_label', 'q2_evidence'
PREFIX = 'q2-filter-'
# ParlAI recurses for every episode that is left out. Python allows about a thousand
# nested calls, and a teacher takes two for each.
MAX_EMPTY = 300
NAME = 'q2_control_tokens'
# Terciles are computed from at most this many responses, the first ones: comparing
# words is fast, but a whole corpus takes a while.
SAMPLE = 20_000
NO_LABEL = Example('', '')


class ScoringMutator(ManyEpisodeMutator):
    """A mutator that scores labels, with the score cache."""

    make_scorer: Callable[..., Scorer] = staticmethod(scorer_from_opt)

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

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer, created on first use, in the process that uses it."""
        opt = self.opt
        is_open = opt.get('scorer_device') in (None, AUTO)
        if opt.get('background_index') is not None and is_open:
            # A process that ParlAI forked cannot use its parent's GPU.
            opt = {**opt, 'scorer_device': CPU}
        return self.make_scorer(opt, Role.CHOOSE, cache=True)

    def first_labels(
        self, episode: list[Message]
    ) -> list[tuple[Example | None, Score | None]]:
        """Return the first label of each turn and its score; None without a label."""
        turns = read_turns(episode, self.source)
        labelled = [turn.examples[0] for turn in turns if turn.examples]
        scores = iter(self.scorer.score(labelled) if labelled else ())
        return [
            (turn.examples[0], next(scores)) if turn.examples else (None, None)
            for turn in turns
        ]


@register_mutator('q2_annotate')
class AnnotateMutator(ScoringMutator):
    """
    Adds to a message, for its first label, ``q2_score`` (in [0, 1]; None without
    knowledge or label), ``q2_score_label`` and ``q2_evidence`` (what ``Score.to_dict``
    returns).
    """

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """Return the episode with the scores in its messages."""
        for message, (example, score) in zip(episode, self.first_labels(episode)):
            scored = (
                example and example.knowledge_text.strip() and example.response.strip()
            )
            message.force_set(SCORE, score.value if score and scored else None)
            message.force_set(LABEL, score.label if score else None)
            if score:
                message.force_set(EVIDENCE, score.to_dict())
        return [episode]


@register_mutator('q2_filter')
class FilterMutator(ScoringMutator):
    """
    Removes turns of the training fold whose labels are not grounded. A removed turn
    stays in the history of the later ones. Of several labels, the grounded ones are
    kept.
    """

    make_scorer = staticmethod(judge_from_opt)  # its policy applies the threshold

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
        # Whether each distinct turn is kept; logged when the program ends.
        self._kept: dict[int, bool] = {}
        weakref.finalize(self, log_counts, self._kept, self.opt)

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """Return the kept turns of an episode, as any number of episodes."""
        if DatatypeHelper.fold(self.opt['datatype']) != 'train':
            return [episode]
        policy = policy_from_opt(self.opt, self.scorer.threshold, Role.CHOOSE, PREFIX)
        turns = read_turns(episode, self.source)
        examples = [*chain.from_iterable(turn.examples for turn in turns)]
        judged = decide_episode(turns, iter(self.scorer.score(examples)), policy)
        for message, turn in zip(episode, judged):
            shown = str(message.get('text')), turn.knowledge, *read_labels(message)
            self._kept[hash(shown)] = turn.decision.is_kept
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
                if turn.knowledge and not as_text(message.get('knowledge')):
                    # In a text with history, the first passage may be of another turn.
                    message['knowledge'] = turn.knowledge
                messages.append(Message(message))
            episodes.append(messages)
        return episodes


def log_counts(is_kept: dict[int, bool], opt: Opt) -> None:
    """Log how many distinct turns were kept and dropped, and by which scorer."""
    if is_kept:
        count = sum(is_kept.values())
        scorer = opt.get('choose') or DEFAULTS[Role.CHOOSE]
        logging.info(
            f'q2_filter kept {count:,} of {len(is_kept):,} turns that were read, and '
            f'dropped {len(is_kept) - count:,}, by {scorer}.'
        )


@register_mutator('q2_control_tokens')
class ControlTokensMutator(ScoringMutator):
    """Puts control tokens before each text."""

    @cached_property
    def groups(self) -> PrecisionGroups:
        """The groups of the precision of training labels with knowledge."""
        shares: list[float] = []
        for episode in training_episodes(self.opt):
            for turn in read_turns(episode, self.source):
                if turn.passages:
                    shares += map(lexical_precision, turn.examples[:1])
            if len(shares) >= SAMPLE:
                break
        groups = terciles(shares)
        logging.info(
            f'Terciles of the lexical precision of {len(shares)} training labels: '
            f'{groups.medium:.3f} and {groups.high:.3f}'
        )
        return groups

    def many_episode_mutation(self, episode: list[Message]) -> list[list[Message]]:
        """Return the episode with control tokens before its texts."""
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
    """Yield the training episodes of a task as this mutator receives them."""
    # Imported late: worlds import agents, which are not needed to register mutators.
    from parlai_q2.parlai.task_episodes import TaskEpisodes

    names = (opt.get('mutators') or '').replace('+', ',').split(',')
    before = '+'.join(names[: names.index(NAME)]) or None
    return TaskEpisodes(Opt({**opt, 'datatype': 'train', 'mutators': before}))
