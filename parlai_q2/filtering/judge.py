"""
Scores the labels of episodes against the knowledge of their turns, many at a time, and
decides which are kept: those that score above the threshold, and by default those that
no scorer can judge, since chit-chat keeps a model sociable. A turn is kept if at least
one of its labels is.

The steps:

1. :func:`read_turns` finds the knowledge and the labels of one episode's turns;
2. :func:`group_episodes` does so for many, and groups whole episodes into batches;
3. :func:`~parlai_q2.filtering.label_scoring.score_batches` scores the labels of batches
   with an engine, perhaps in other processes (:func:`judge_episodes` has a scorer of
   this process do it);
4. :func:`decide_batches` decides on the turns of scored batches, and
   :func:`decide_episode` on those of one episode.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError, InputError
from parlai_q2.io.knowledge import KnowledgeSource
from parlai_q2.io.read import CHUNK_CHARACTERS
from parlai_q2.options import Word
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer
from parlai_q2.turns import Example, Passage, joined

# The minimum number of responses in one call of the scorer: enough to fill any model's
# batches, and few enough that progress shows.
CHUNK = 256
# Only messages have knowledge: no option adds any.
MESSAGES = KnowledgeSource()
Message = Mapping[str, Any]


class Fate(Word):
    """Whether responses that no scorer can judge are kept or dropped."""

    KEEP = 'keep'
    DROP = 'drop'


class Unit(Word):
    """What is dropped with a response: its turn alone, or the whole episode."""

    TURNS = 'turns'
    EPISODES = 'episodes'


class FilterReason(Word):
    """Why a turn is kept or dropped, in a few words."""

    GROUNDED = 'above the threshold'
    NOT_GROUNDED = 'not above the threshold'
    GENERIC = 'generic'
    UNVERIFIABLE = 'nothing to verify'
    NO_KNOWLEDGE = 'no knowledge'
    NO_LABEL = 'no label'
    NO_SCORE = 'could not be scored'
    EPISODE = 'another turn of its episode goes'
    ABSTAINED = 'the model abstained'


class Decision(NamedTuple):
    """Whether a response or turn is kept, and why."""

    is_kept: bool
    reason: str


@dataclass(frozen=True)
class Policy:
    """
    The rule for what is kept.

    :param threshold: responses that score above it are kept; in [0, 1].
    :param generic: ``keep`` or ``drop`` responses that state nothing.
    :param unverifiable: ``keep`` or ``drop`` responses with nothing to verify.
    :param no_knowledge: ``keep`` or ``drop`` turns without knowledge.
    :param unit: what a dropped response takes with it, one of :class:`Unit`.
    :raises ConfigError: for any other value, or a threshold out of range.
    """

    threshold: float = DEFAULT_THRESHOLD
    generic: str = Fate.KEEP
    unverifiable: str = Fate.KEEP
    no_knowledge: str = Fate.KEEP
    unit: str = Unit.TURNS

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise ConfigError(f'A threshold must be in [0, 1], not {self.threshold}.')
        for name in ('generic', 'unverifiable', 'no_knowledge'):
            Fate.check(name, getattr(self, name))
        Unit.check('The unit to drop', self.unit)

    def decide(self, example: Example, score: Score | None) -> Decision:
        """
        Whether one response is kept. A score of None means that the knowledge or the
        response is blank, or that the response could not be scored.
        """
        if not example.response.strip():
            return Decision(False, FilterReason.NO_LABEL)
        if not example.knowledge_text.strip():
            return Decision(self.no_knowledge == Fate.KEEP, FilterReason.NO_KNOWLEDGE)
        if score is None:
            return Decision(False, FilterReason.NO_SCORE)
        if score.label == Label.GENERIC:
            return Decision(self.generic == Fate.KEEP, FilterReason.GENERIC)
        if not score.verifiable:
            return Decision(self.unverifiable == Fate.KEEP, FilterReason.UNVERIFIABLE)
        if score.value > self.threshold:
            return Decision(True, FilterReason.GROUNDED)
        return Decision(False, FilterReason.NOT_GROUNDED)


class ScoringItem(NamedTuple):
    """A label to score, and its place, for messages: ``episode 3, turn 1``."""

    example: Example
    place: str


class LabelledTurn(NamedTuple):
    """A teacher's message with its knowledge, and an example for each label."""

    message: Message
    passages: tuple[Passage, ...]
    examples: list[Example]


LabelledEpisode = list[LabelledTurn]


class Batch(NamedTuple):
    """Whole episodes that are scored in one call, and all their labels."""

    episodes: list[LabelledEpisode]
    items: list[ScoringItem]


@dataclass(frozen=True)
class JudgedLabel:
    """
    One label of a turn; its score is None if the turn has no knowledge, or the label
    could not be scored.
    """

    text: str
    score: Score | None
    decision: Decision


@dataclass(frozen=True)
class JudgedTurn:
    """A teacher's message with its knowledge and its labels, any of them empty."""

    message: Message
    passages: tuple[Passage, ...]
    labels: tuple[JudgedLabel, ...]
    decision: Decision

    @property
    def knowledge(self) -> str:
        return joined(self.passages)

    @property
    def kept_labels(self) -> list[str]:
        return [label.text for label in self.labels if label.decision.is_kept]

    @property
    def main_label(self) -> JudgedLabel | None:
        """
        The label that represents the turn: the first that is kept, else the first.
        """
        kept_labels = (label for label in self.labels if label.decision.is_kept)
        return next(itertools.chain(kept_labels, self.labels), None)


JudgedEpisode = list[JudgedTurn]


def read_labels(message: Message) -> list[str]:
    """Read the labels of a message, from ``labels`` or ``eval_labels``."""
    labels = message.get('labels') or message.get('eval_labels') or ()
    if isinstance(labels, str):
        return [labels]
    return [str(label) for label in labels if label is not None]


def read_turns(
    episode: Sequence[Message], source: KnowledgeSource = MESSAGES
) -> list[LabelledTurn]:
    """
    The turns of an episode with their knowledge.

    :raises InputError: if the labels are classes, which make no claim that knowledge
        could support.
    """
    for message in episode:
        if message.get('response') and read_labels(message) == [
            message.get('q2_label')
        ]:
            raise InputError(
                'The labels of this task are classes such as '
                f'{message["q2_label"]!r}, not responses. Use its annotated view, '
                'e.g. -t q2:begin:annotated. To score a file of pairs, use '
                'parlai_q2 score.'
            )
    turns = []
    for message, passages in zip(episode, source.of_episode(episode)):
        examples = [Example(passages, label) for label in read_labels(message)]
        turns.append(LabelledTurn(message, passages, examples))
    return turns


def decide_episode(
    episode: Sequence[LabelledTurn], scores: Iterator[Score | None], policy: Policy
) -> JudgedEpisode:
    """
    Decide which turns of one episode are kept, by the scores of their examples, one
    after another.
    """
    turns = []
    for message, passages, examples in episode:
        labels = tuple(
            JudgedLabel(
                example.response,
                score if example.knowledge_text.strip() else None,
                policy.decide(example, score),
            )
            for example, score in zip(examples, scores)
        )
        turns.append(JudgedTurn(message, passages, labels, _decide_turn(labels)))
    if policy.unit == Unit.EPISODES and not all(
        turn.decision.is_kept for turn in turns
    ):
        drop = Decision(False, FilterReason.EPISODE)
        turns = [replace(t, decision=drop) if t.decision.is_kept else t for t in turns]
    return turns


def judge_episodes(
    episodes: Iterable[Sequence[Message]], scorer: Scorer, policy: Policy
) -> Iterator[JudgedEpisode]:
    """
    Read, score and decide on many episodes, holding only those for the next call of the
    scorer.
    """
    for batch in group_episodes(episodes):
        scores = scorer.score([item.example for item in batch.items])
        yield from decide_batches([(batch.episodes, scores)], policy)


def group_episodes(
    episodes: Iterable[Sequence[Message]],
    source: KnowledgeSource = MESSAGES,
    chunk: int = CHUNK,
) -> Iterator[Batch]:
    """
    Group episodes into batches of at least ``chunk`` responses, or fewer with long
    texts. Batches depend on the episodes alone.
    """
    batch, characters = Batch([], []), 0
    for number, episode in enumerate(episodes, start=1):
        turns = read_turns(episode, source)
        batch.episodes.append(turns)
        for place, turn in enumerate(turns, start=1):
            for example in turn.examples:
                item = ScoringItem(example, f'episode {number}, turn {place}')
                batch.items.append(item)
                characters += len(example.knowledge_text) + len(example.response)
        if len(batch.items) >= chunk or characters >= CHUNK_CHARACTERS:
            yield batch
            batch, characters = Batch([], []), 0
    if batch.episodes:
        yield batch


def decide_batches(
    scored: Iterable[tuple[list[LabelledEpisode], Sequence[Score | None]]],
    policy: Policy,
) -> Iterator[JudgedEpisode]:
    """
    Decide which turns are kept of the episodes of batches, each with the scores of its
    labels; None for one that could not be scored.
    """
    for episodes, batch_scores in scored:
        scores = iter(batch_scores)
        for episode in episodes:
            yield decide_episode(episode, scores, policy)


def _decide_turn(labels: Sequence[JudgedLabel]) -> Decision:
    for label in labels:
        if label.decision.is_kept:
            return label.decision
    return labels[0].decision if labels else Decision(False, FilterReason.NO_LABEL)
