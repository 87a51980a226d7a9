"""A scorer with a calibration of its values, a store of its scores, or both."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.io.files import file_sha256
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.calibrated import calibrated, check_same, read_calibration
from parlai_q2.scorers.shell import Reuse, Store, score_all
from parlai_q2.signature import Signature
from parlai_q2.turns import Example

# Digits of a file's checksum in a signature.
DIGITS = 8


class ExtendedScorer(Scorer):
    """
    Another scorer, with a calibration, a store of scores or both.

    Kept scores are the scorer's own: another calibration needs no new scoring.

    :param calibration: the file of a calibration.
    :param threshold: replaces the calibration's threshold.
    :param store: where scores are looked up and kept.
    :raises ConfigError: if the file is not for this scorer with these models.
    """

    def __init__(
        self,
        scorer: Scorer,
        calibration: str | None = None,
        threshold: float | None = None,
        store: Store | None = None,
    ):
        self.scorer = scorer
        self.reuse = None if store is None else Reuse(store)
        self.calibration = None
        self._file = ''
        if calibration is not None:
            self.calibration = read_calibration(calibration, scorer.name)
            check_same(calibration, self.calibration, scorer.signature)
            path = Path(calibration)
            self._file = f'{path.name}@{file_sha256(path)[:DIGITS]}'
        fitted = self.calibration.threshold if self.calibration else scorer.threshold
        super().__init__(fitted if threshold is None else threshold)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.scorer.name

    @property
    def has_models(self) -> bool:  # type: ignore[override]
        return self.scorer.has_models

    @property
    def is_thread_safe(self) -> bool:  # type: ignore[override]
        # A store counts what it was asked.
        return self.reuse is None and self.scorer.is_thread_safe

    @property
    def asks_questions(self) -> bool:  # type: ignore[override]
        return self.scorer.asks_questions

    @property
    def prepares_texts(self) -> bool:  # type: ignore[override]
        return self.scorer.prepares_texts

    @property
    def max_response_words(self) -> int:  # type: ignore[override]
        return self.scorer.max_response_words

    @property
    def prior(self) -> float | None:  # type: ignore[override]
        return self.calibration.prior if self.calibration else self.scorer.prior

    @property
    def settings(self) -> dict[str, Any]:
        if self.calibration is None:
            return self.scorer.settings
        prior = {} if self.prior is None else {'prior': f'{self.prior:g}'}
        return {**self.scorer.settings, 'calibration': self._file, **prior}

    @property
    def signature(self) -> Signature:
        return super().signature if self.calibration else self.scorer.signature

    @property
    def text_model(self) -> Any:
        return self.scorer.text_model

    def score(self, examples: Iterable[Example]) -> list[Score]:
        return score_all(
            self.scorer,
            examples,
            str(self.signature),
            self.reuse,
            self._calibrated if self.calibration else None,
        )

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return self.scorer.score_texts(examples)

    def _calibrated(self, score: Score) -> Score:
        assert self.calibration is not None
        return calibrated(score, self.calibration, self.threshold)
