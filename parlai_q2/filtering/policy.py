"""
Decides which responses a training set keeps: those that score above the threshold, and
by default those that no scorer can judge, since chit-chat keeps a model sociable.
"""

from dataclasses import dataclass
from typing import NamedTuple

from parlai_q2.claims import Label, Score
from parlai_q2.errors import ConfigError
from parlai_q2.options import Word
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.turns import Example


class Fate(Word):
    """What becomes of responses that no scorer can judge."""

    KEEP = 'keep'
    DROP = 'drop'


class Unit(Word):
    """What is dropped with a response: its turn alone, or the whole episode."""

    TURNS = 'turns'
    EPISODES = 'episodes'


class Reason(Word):
    """Why a turn is kept or dropped, in a few words."""

    GROUNDED = 'above the threshold'
    NOT_GROUNDED = 'not above the threshold'
    GENERIC = 'generic'
    UNVERIFIABLE = 'nothing to verify'
    NO_KNOWLEDGE = 'no knowledge'
    NO_LABEL = 'no label'
    NO_SCORE = 'could not be scored'
    EPISODE = 'another turn of its episode goes'


class Decision(NamedTuple):
    """Whether a response or turn is kept, and why."""

    is_kept: bool
    reason: str


@dataclass(frozen=True)
class Policy:
    """
    What is kept.

    :param threshold: responses that score above it are kept; in [0, 1].
    :param generic: ``keep`` or ``drop`` responses that state nothing.
    :param unverifiable: ``keep`` or ``drop`` responses with nothing to verify.
    :param no_knowledge: ``keep`` or ``drop`` turns without knowledge.
    :param unit: what is dropped with a response, one of :class:`Unit`.
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
        Whether one response is kept. Its score may be None where the knowledge or the
        response is blank; elsewhere, None is a response that could not be scored.
        """
        if not example.knowledge_text.strip():
            return Decision(self.no_knowledge == Fate.KEEP, Reason.NO_KNOWLEDGE)
        if not example.response.strip():
            return Decision(False, Reason.NO_LABEL)
        if score is None:
            return Decision(False, Reason.NO_SCORE)
        if score.label == Label.GENERIC:
            return Decision(self.generic == Fate.KEEP, Reason.GENERIC)
        if not score.verifiable:
            return Decision(self.unverifiable == Fate.KEEP, Reason.UNVERIFIABLE)
        if score.value > self.threshold:
            return Decision(True, Reason.GROUNDED)
        return Decision(False, Reason.NOT_GROUNDED)
