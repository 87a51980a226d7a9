"""
A scorer with a calibration of its values, a store of its scores, or both.

A calibration is the prior and the threshold that ``parlai_q2 calibrate`` fitted
to labelled pairs, and for the combinations perhaps weights.

Under another prior (share of responses that are consistent), the odds of a probability
are multiplied by a constant (Saerens et al. 2002), which keeps the order
of all responses. Values that are no probabilities only get another threshold.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Score
from parlai_q2.errors import ConfigError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.nli_types import NliModel
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.shell import Reuse, ScoreStore, score_all
from parlai_q2.signature import Signature
from parlai_q2.turns import Example

# Settings in which the scorer may differ from the one that was calibrated: they change
# no value, or hardly.
FREE = ('threshold',)
ENGINE = '_engine'
# Those that a calibration's own weights replace.
REFITTED = ('weights', 'fitted_with', 'bounded')
# Digits of a file's checksum in a signature.
DIGITS = 8


@dataclass(frozen=True)
class Calibration:
    """
    What was fitted to labelled pairs.

    :param fitted_on: the scorer's settings, as texts by name.
    :param threshold: a calibrated value of at most this is inconsistent, in [0, 1].
    :param prior: the share of consistent responses, in (0, 1), under which calibrated
        values are probabilities; None for a scorer whose values are none.
    :param shift: the difference of log-odds to the scorer's own values, if a prior is.
    :param refitted: whether the file has weights of its own.
    """

    scorer: str
    fitted_on: Mapping[str, str]
    threshold: float
    prior: float | None = None
    shift: float | None = None
    refitted: bool = False


def shifted(value: float, shift: float) -> float:
    """
    A probability whose log-odds are raised.

    >>> shifted(0.5, math.log(4)), shifted(0.0, 2.0), shifted(1.0, 2.0)
    (0.8, 0.0, 1.0)
    """
    odds = math.exp(shift)
    return value * odds / (value * odds + 1 - value) if shift else value


def read_calibration(path: str) -> Calibration:
    """Read a file that ``parlai_q2 calibrate`` wrote; any other is a ConfigError."""
    try:
        fields = json.loads(Path(path).read_text(encoding='utf-8'))['calibration']
        fitted_on = dict(fields['fitted_on'])
        calibration = Calibration(**{**fields, 'fitted_on': fitted_on})
        numbers = (
            calibration.threshold,
            calibration.prior or 0.5,
            calibration.shift or 0.0,
        )
        is_valid = all(
            isinstance(n, (int, float)) and math.isfinite(n) for n in numbers
        )
        is_valid = is_valid and 0 <= calibration.threshold <= 1 and 0 < numbers[1] < 1
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise ConfigError(
            f'Cannot read the calibration {path}: {e!r}. Write it with "parlai_q2 '
            'calibrate --infile labelled.jsonl --measure NAME".'
        ) from e
    if not is_valid:
        raise ConfigError(
            f'{path}: threshold and prior must be in [0, 1], and shift a number; got '
            f'{fields}.'
        )
    return calibration


def calibrated(score: Score, calibration: Calibration, threshold: float) -> Score:
    """
    A score with its value under the calibration's prior, and the label that follows.

    :param threshold: a calibrated value of at most this is inconsistent.
    """
    if score.label == Label.NOT_VERIFIABLE:
        return score
    value = shifted(score.value, calibration.shift or 0.0)
    if (label := score.label) == Label.GENERIC:
        value = min(value, NOT_VERIFIABLE_VALUE)
    else:
        label = label_of(value, threshold)
    return replace(score, value=value, label=label).as_labelled


def check_same(path: str, calibration: Calibration, scorer: Scorer) -> None:
    """
    Raise ConfigError if a scorer is not the one that was calibrated, naming what
    differs. Its threshold and its models' engines may.
    """
    if calibration.scorer != scorer.name:
        raise ConfigError(
            f'{path} was fitted for the scorer {calibration.scorer!r}, not for '
            f'{scorer.name!r}. Name {calibration.scorer}, or calibrate {scorer.name}.'
        )
    free = FREE + (REFITTED if calibration.refitted else ())
    then, now = calibration.fitted_on, scorer.signature.texts()
    names = {n for n in {*then, *now} if n not in free and ENGINE not in n}
    changed = [n for n in sorted(names) if then.get(n) != now.get(n)]
    if changed:
        listed = ', '.join(f'{n} {then.get(n)!r}, now {now.get(n)!r}' for n in changed)
        raise ConfigError(
            f'{path} was fitted with another {calibration.scorer}: {listed}. Run '
            '"parlai_q2 calibrate" again, with the preset and options of this run.'
        )


class CalibratedCachedScorer(Scorer):
    """
    Another scorer, whose values are calibrated, whose scores are kept, or both.

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
        store: ScoreStore | None = None,
    ):
        self.scorer = scorer
        self.reuse = None if store is None else Reuse(store)
        self.calibration = None
        self._file = ''
        if calibration is not None:
            self.calibration = read_calibration(calibration)
            check_same(calibration, self.calibration, scorer)
            path = Path(calibration)
            self._file = f'{path.name}@{file_sha256(path)[:DIGITS]}'
        fitted = self.calibration.threshold if self.calibration else scorer.threshold
        super().__init__(fitted if threshold is None else threshold)
        self.name, self.has_models = scorer.name, scorer.has_models
        self.asks_questions = scorer.asks_questions
        self.prepares_texts = scorer.prepares_texts
        self.max_response_words = scorer.max_response_words
        self.prior = self.calibration.prior if self.calibration else scorer.prior
        # A store counts what it was asked.
        self.is_thread_safe = self.reuse is None and scorer.is_thread_safe

    @property
    def settings(self) -> dict[str, object]:
        if self.calibration is None:
            return self.scorer.settings
        prior = {} if self.prior is None else {'prior': f'{self.prior:g}'}
        return {**self.scorer.settings, 'calibration': self._file, **prior}

    @property
    def signature(self) -> Signature:
        return super().signature if self.calibration else self.scorer.signature

    @property
    def text_model(self) -> NliModel | None:
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
