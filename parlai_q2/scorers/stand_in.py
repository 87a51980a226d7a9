"""Base class of scorers that wrap another one and give the same scores."""

from typing import Any, Generic, Optional, TypeVar

from parlai_q2.scorers.base import Scorer
from parlai_q2.signature import Signature

S = TypeVar('S', bound=Scorer)


class StandInScorer(Scorer, Generic[S]):
    """
    Wraps a scorer and has the same name, settings, signature and threshold. A subclass
    implements :meth:`score_texts`.

    :param scorer: the scorer to wrap.
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
    def has_models(self) -> bool:  # type: ignore[override]
        return self.scorer.has_models

    @property
    def prior(self) -> Optional[float]:  # type: ignore[override]
        return self.scorer.prior

    @property
    def asks_questions(self) -> bool:  # type: ignore[override]
        return self.scorer.asks_questions

    def can_read(self, text: str) -> bool:
        return self.scorer.can_read(text)

    @property
    def settings(self) -> dict[str, Any]:
        return self.scorer.settings

    @property
    def signature(self) -> Signature:
        return self.scorer.signature
