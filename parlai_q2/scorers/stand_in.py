"""
A scorer that stands in for another: what does something besides, and scores the same.
"""

from typing import Any, Generic, TypeVar

from parlai_q2.scorers.base import Scorer
from parlai_q2.signature import Signature

S = TypeVar('S', bound=Scorer)


class StandInScorer(Scorer, Generic[S]):
    """
    To everybody else it is the scorer inside: the same name, settings, signature and
    threshold. A subclass fills :meth:`score_texts`.

    :param scorer: what scores.
    """

    def __init__(self, scorer: S):
        self.scorer = scorer

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.scorer.name

    @property
    def threshold(self) -> float:  # type: ignore[override]
        return self.scorer.threshold

    @property
    def settings(self) -> dict[str, Any]:
        return self.scorer.settings

    @property
    def signature(self) -> Signature:
        return self.scorer.signature
