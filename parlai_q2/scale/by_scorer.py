"""What jobs that a scorer does have in common, whatever they write of its scores."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Optional

from parlai_q2.scorers.base import Scorer

# Creates a scorer for a torch device (None for the scorer's default), in the process
# that will use it.
MakeScorer = Callable[[Optional[str]], Scorer]


@dataclass(frozen=True)
class Same:
    """Gives the scorer that it was given."""

    scorer: Scorer

    def __call__(self, device: Optional[str]) -> Scorer:
        return self.scorer


@dataclass(frozen=True)
class ScorerWork(ABC):
    """A loaded scorer, which makes results; see :class:`~parlai_q2.scale.job.Work`."""

    scorer: Scorer

    @property
    def signature(self) -> str:
        """The scorer's."""
        return str(self.scorer.signature)

    @abstractmethod
    def __call__(self, items: Sequence[Any]) -> list[Any]:
        """The result of each item, all scored in one call of the scorer."""


@dataclass(frozen=True)
class ScorerJob(ABC):
    """
    Loads a scorer for its ``work``; see :class:`~parlai_q2.scale.job.Job`.

    :param make: makes the scorer; must be picklable for Ray.
    """

    make: MakeScorer
    work: ClassVar[type[ScorerWork]]

    def load(self, device: Optional[str] = None) -> ScorerWork:
        """Make the scorer."""
        return self.work(self.make(device))

    @abstractmethod
    def lost(self, item: Any, problem: str) -> Any:
        """The result of an item that no process survives."""
