"""
The calibrated combination: the probability that the knowledge supports a response.

Q2 asks about each noun, the detector reads whole sentences, and word overlap shows what
is new. They make different mistakes, so a logistic model combines them. Its few
coefficients are in ``grounded.json`` beside this file, and none is negative: a higher
value of a feature means that the response is better supported.

They were chosen on development data (docs/research.md); ``parlai_q2 calibrate --refit``
fits others.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Score
from parlai_q2.errors import ConfigError
from parlai_q2.log_odds import logit, sigmoid
from parlai_q2.models.nli_types import NliModel
from parlai_q2.presets import Preset
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.consistency import (
    SETTINGS,
    ClassifierScorer,
    ResponseReading,
    read,
)
from parlai_q2.scorers.premises import choose_premises, is_long
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.text.overlap import coverage, known_share
from parlai_q2.turns import Example

COEFFICIENTS = 'grounded.json'
GROUNDED, GROUNDED_FAST = 'grounded', 'grounded_fast'
# The features of the detector and the words; ``grounded`` adds that of Q2.
FAST_FEATURES = ('detector', 'odds', 'words', 'numbers')
FEATURES = ('q2', *FAST_FEATURES)
# The log odds at which the detector's doubt ends: 1 in 1,100.
LEAST_ODDS = -7.0


@dataclass(frozen=True)
class Coefficients:
    """
    A fitted logistic model.

    :param weights: the weight of each feature, at least 0.
    :param intercept: the intercept, any number.
    :param fitted_with: the preset whose models computed the features.
    :param bounded: whether a response is never more supported than its least supported
        statement, which takes a detector whose support is a probability.
    """

    weights: Mapping[str, float]
    intercept: float
    fitted_with: str
    bounded: bool = False

    def probability(self, features: Mapping[str, float]) -> float:
        """
        The probability that a response is supported.

        :param features: at least the features with a weight, each in [0, 1].
        """
        z = self.intercept + sum(w * features[f] for f, w in self.weights.items())
        return sigmoid(z)


def read_coefficients(name: str, path: str | None = None) -> Coefficients:
    """
    Read the coefficients of ``grounded`` or ``grounded_fast``.

    :param path: a file that the fitting command wrote; None for the shipped one.
    :raises ConfigError: if the file cannot be read, lacks the scorer, or has unknown or
        negative weights.
    """
    place = Path(path) if path else Path(str(files('parlai_q2.scorers'))) / COEFFICIENTS
    try:
        fields = json.loads(place.read_text(encoding='utf-8'))
        entry = fields[name]
        weights = {str(f): float(w) for f, w in entry['weights'].items()}
        intercept, preset = float(entry['intercept']), str(fields['preset'])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise ConfigError(
            f'Cannot read the coefficients of {name!r} from {place}: {e!r}. Write the '
            'file with "parlai_q2 calibrate --refit".'
        ) from e
    known_features = FEATURES if name == GROUNDED else FAST_FEATURES
    wrong = sorted(set(weights) - set(known_features))
    if wrong or not weights or not all(0 <= w < math.inf for w in weights.values()):
        raise ConfigError(
            f'{place}: the weights of {name!r} must be at least 0 and of '
            f'{", ".join(known_features)}; got {weights}.'
        )
    bounded = entry.get('bounded') is True
    return Coefficients(weights, intercept, preset, bounded)


class GroundedFastScorer(ClassifierScorer):
    """
    The probability that a response is fully supported, in [0, 1], by the detector and
    the words alone.

    ``Score.parts`` has the features and ``generic``, the detector's probability that
    the response states nothing. A response whose sentences are all generic gets the
    label ``generic`` and a value of at most
    :data:`~parlai_q2.claims.NOT_VERIFIABLE_VALUE`: saying nothing is neither rewarded
    nor labelled inconsistent.

    :param coefficients: a file of coefficients; None for the preset's, or else those
        that were fitted with ``mini``.
    """

    name = GROUNDED_FAST
    prior = 0.5  # both classes had equal weight in the fit

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
        coefficients: str | None = None,
    ):
        super().__init__(model, preset, threshold)
        self.coefficients = read_coefficients(self.name, coefficients)

    @classmethod
    def from_preset(cls, preset: Preset, *args: Any, **options: Any) -> Any:
        options['coefficients'] = options.get('coefficients') or preset.coefficients
        return super().from_preset(preset, *args, **options)

    @property
    def settings(self) -> dict[str, object]:
        weights = self.coefficients.weights
        weights_text = ','.join(f'{f}={w:g}' for f, w in sorted(weights.items()))
        return {
            **super().settings,
            'prior': f'{self.prior:g}',
            'weights': f'{weights_text},intercept={self.coefficients.intercept:g}',
            'fitted_with': self.coefficients.fitted_with,
            'bounded': 'on' if self.coefficients.bounded else None,
            **SETTINGS,
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return self.combine(examples, [None] * len(examples))

    def combine(
        self, examples: Sequence[Example], q2_scores: Sequence[Score | None]
    ) -> list[Score]:
        """Scores of examples with those of Q2, or None for each without them."""
        readings = read(self.model, examples, at_once=True)
        return [
            self._score(reading, q2)
            for reading, q2 in zip(readings, q2_scores, strict=True)
        ]

    def _score(self, reading: ResponseReading, q2: Score | None) -> Score:
        parts = fast_parts(reading)
        if q2:
            parts['q2'] = q2.value
        piece = reading.deciding
        value = self.coefficients.probability(parts)
        if self.coefficients.bounded:
            value = min(value, piece.support)
        label = label_of(value, self.threshold)
        if piece.is_generic:
            value, label = min(value, NOT_VERIFIABLE_VALUE), Label.GENERIC
        return Score(
            value,
            label,
            (*(q2.claims if q2 else ()), *reading.make_claims(self.threshold)),
            q2.fallback if q2 else False,
            {**parts, 'generic': piece.reading.generic},
        ).as_labelled


class GroundedScorer(GroundedFastScorer):
    """
    As :class:`GroundedFastScorer`, with Q2, whose questions are the evidence.

    Its further options are those of :meth:`Q2Scorer.from_preset`.
    """

    name = GROUNDED
    asks_questions = True
    is_thread_safe = False

    def __init__(self, model: NliModel, q2: Q2Scorer, *args: Any, **options: Any):
        super().__init__(model, *args, **options)
        self.q2 = q2

    @classmethod
    def from_preset(
        cls,
        preset: Preset,
        device: str = 'cpu',
        batch_size: Any = None,
        threshold: float = Scorer.threshold,
        coefficients: str | None = None,
        **q2_options: Any,
    ) -> Any:
        common: dict[str, Any] = {'device': device, 'batch_size': batch_size}
        q2 = Q2Scorer.from_preset(preset, **common, **q2_options)
        grounded_options = {
            'threshold': threshold,
            'coefficients': coefficients,
            'q2': q2,
        }
        return super().from_preset(preset, **common, **grounded_options)

    @property
    def settings(self) -> dict[str, object]:
        return {**self.q2.settings, **super().settings}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        return self.combine(examples, self.q2.score_texts(examples))


def knowledge_read(reading: ResponseReading) -> str:
    """
    The knowledge that words are compared with: all of it or, if it is long, the
    sentences that could support a piece of the response.
    """
    index = reading.knowledge
    if not is_long(index):
        return index.text
    chosen: set[int] = set()
    for piece in reading.pieces:
        for premise in choose_premises(index, piece.span.text):
            chosen.update(premise.chosen)
    return index.joined(sorted(chosen))


def fast_parts(reading: ResponseReading) -> dict[str, float]:
    """
    The features of the detector and of the words.

    The detector's feature is the mean of three readings, which make mistakes on
    different texts: support for the response as a whole (unless it is long), support
    for its least supported statement, and the mean support of all its sentences,
    including generic ones. Words and numbers are taken from the sentences that are not
    generic, because chit-chat does not occur in knowledge.

    :return: a value in [0, 1] for each of :data:`FAST_FEATURES`.
    """
    least = reading.deciding.support
    supports = (
        reading.at_once.support if reading.at_once else least,
        least,
        fmean(piece.support for piece in reading.pieces),
    )
    knowledge = knowledge_read(reading)
    stated = ' '.join(piece.text for piece in reading.stated or reading.pieces)
    return {
        'detector': fmean(supports),
        'odds': _odds(min(supports)),
        'words': coverage(knowledge, stated),
        'numbers': known_share(knowledge, stated),
    }


def _odds(probability: float) -> float:
    """Log odds from :data:`LEAST_ODDS` to even, as a value from 0 to 1."""
    odds = min(logit(probability), 0.0)
    return 1 - max(odds, LEAST_ODDS) / LEAST_ODDS
