"""
Q2 as a scorer.

In context, which departs from the paper, a detector also reads each sentence of the
response. It notices changes around a noun (a negation, a degree, a swapped role) and
understands other words than those of the question. The support of a claim is then a
weighted mean of the comparison of its answers and the support of its sentence
(:data:`~parlai_q2.q2.settings.SENTENCE_WEIGHT`). A sentence without a valid question
counts as one claim of its own, by its support alone, unless it is generic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from statistics import fmean
from typing import Any

from parlai_q2.claims import (
    NOT_VERIFIABLE_VALUE,
    STANCES,
    Claim,
    Label,
    Score,
    Stance,
    Status,
)
from parlai_q2.errors import UnknownNameError
from parlai_q2.models.nli_types import NliModel
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.models.question_generation import (
    QuestionDecoding,
    Seq2SeqQuestionGenerator,
)
from parlai_q2.presets import Preset, Section
from parlai_q2.q2.compare import AGREE, hard_score
from parlai_q2.q2.metric import Q2Models, Q2Result, q2
from parlai_q2.q2.settings import SENTENCE_WEIGHT, Q2Settings
from parlai_q2.scorers import backends
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer, label_of
from parlai_q2.scorers.consistency import (
    ResponsePiece,
    ResponseReading,
    judge_piece,
    make_claim,
    read,
)
from parlai_q2.scorers.premises import JOINED_READ, SHORT_READ
from parlai_q2.scorers.shell import MAX_RESPONSE_WORDS
from parlai_q2.text.class_map import Finding
from parlai_q2.text.pipeline import pipeline_name
from parlai_q2.turns import Example

# Responses per pass of the pipeline: enough to fill the models' batches, and a bound on
# memory however many responses there are.
CHUNK = 64

PAPER_SETTINGS = Q2Settings()
# The threshold for soft values: with these, one good and one bad answer average to a
# little more than 0.5. Chosen on development data.
SOFT_THRESHOLD = 0.6


def _read_settings(preset: Preset, given: Mapping[str, Any]) -> Q2Settings:
    """The settings that a preset has, and a caller gives."""
    settings = {**preset.q2, **given}
    known = [field.name for field in fields(Q2Settings)]
    for name in settings:
        if name not in known:
            where = f' in the preset {preset.name!r}:' if name in preset.q2 else ''
            raise UnknownNameError(f'setting of Q²{where}', name, known)
    return Q2Settings(**settings)


class Q2Scorer(Scorer):
    """
    The Q2 metric (Honovich et al. 2021), with every question as evidence.

    ``Score.parts`` has ``q2_f1`` (Q2 without NLI) and ``nli`` (end-to-end NLI: 1, 0.5
    or 0).

    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent. None means
        0.5, as in the paper, or :data:`SOFT_THRESHOLD` with soft comparison.
    :param at_once: the number of responses per pass of the pipeline.
    """

    has_models = asks_questions = True
    max_response_words = MAX_RESPONSE_WORDS

    def __init__(
        self,
        models: Q2Models,
        settings: Q2Settings = PAPER_SETTINGS,
        preset: str = 'custom',
        threshold: float | None = None,
        at_once: int = CHUNK,
    ):
        self.models, self.q2_settings = models, settings
        self.preset, self.at_once = preset, at_once
        if threshold is None:
            soft = settings.use_nli and settings.soft_nli
            threshold = SOFT_THRESHOLD if soft else DEFAULT_THRESHOLD
        super().__init__(threshold)

    @classmethod
    def from_preset(
        cls,
        preset: Preset,
        threshold: float | None = None,
        decoding: str = QuestionDecoding.BEAM,
        device: str = 'cpu',
        batch_size: Any = None,
        **q2_settings: Any,
    ) -> 'Q2Scorer':
        """
        Its further options are those of :class:`~parlai_q2.q2.settings.Q2Settings`.
        """
        shared = {'device': device, 'batch_size': batch_size}
        named = {**shared, 'decoding': decoding}
        generator = backends.backend(
            Seq2SeqQuestionGenerator, preset, Section.QUESTION_GENERATION, **named
        )
        answerer = backends.backend(
            SpanQuestionAnswerer, preset, Section.QUESTION_ANSWERING, **shared
        )
        models = Q2Models(generator, answerer, backends.nli(preset, **shared))
        settings = _read_settings(preset, q2_settings)
        at_once = max(CHUNK, generator.batch_size)
        return cls(models, settings, preset.name, threshold, at_once)

    @property
    def name(self) -> str:  # type: ignore[override]
        return 'q2' if self.q2_settings.use_nli else 'q2_f1'

    @property
    def settings(self) -> dict[str, object]:
        return {
            'preset': self.preset,
            'spans': pipeline_name(),
            **self.models.generator.settings,
            **self.models.answerer.settings,
            **self.models.nli.settings,
            **self.q2_settings.describe(),
            'short_knowledge': SHORT_READ if self._judges_in_context else None,
            'joined': JOINED_READ if self._judges_in_context else None,
        }

    @property
    def prepares_texts(self) -> bool:  # type: ignore[override]
        return self.q2_settings.by_value

    @property
    def text_model(self) -> NliModel:
        return self.models.nli

    @property
    def _judges_in_context(self) -> bool:
        return bool(self.q2_settings.in_context) and self.q2_settings.use_nli

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores: list[Score] = []
        for start in range(0, len(examples), self.at_once):
            chunk = examples[start : start + self.at_once]
            results = q2(chunk, self.models, self.q2_settings)
            if self._judges_in_context:
                readings = read(self.models.nli, chunk)
                results = list(map(judge_in_context, results, readings))
            scores += map(self._score, results)
        return scores

    def _score(self, result: Q2Result) -> Score:
        fallback = not result.claims and not result.is_generic
        value = result.value
        label = label_of(value, self.threshold)
        settings = self.q2_settings
        by_nli = settings.use_nli or settings.nli_fallback
        neutral = by_nli and result.nli.label == Finding.NEUTRAL
        if fallback and neutral and settings.neutral_fallback > 0:
            # Cap soft values too: a not verifiable response scores at most this.
            label, value = Label.NOT_VERIFIABLE, min(value, NOT_VERIFIABLE_VALUE)
        if result.is_generic:
            label = Label.GENERIC
        nli = hard_score(result.nli, NOT_VERIFIABLE_VALUE)
        parts = {'q2_f1': result.f1, 'nli': nli}
        return Score(value, label, result.claims, fallback, parts).as_judged


class Q2F1Scorer(Q2Scorer):
    """Q2 without NLI: answers are compared by token F1 alone."""

    @classmethod
    def from_preset(cls, preset: Preset, *args: Any, **options: Any) -> 'Q2Scorer':
        return super().from_preset(preset, *args, **options, use_nli=False)


def judge_in_context(result: Q2Result, reading: ResponseReading) -> Q2Result:
    """
    A result with its claims judged in context; generic if the response is.

    :param reading: the response, as the detector reads it.
    """
    if not reading.stated:
        value = NOT_VERIFIABLE_VALUE
        return replace(result, value=value, claims=(), is_generic=True)
    if not result.claims:
        return result
    claims = []
    for piece in reading.pieces:
        questions = [claim for claim in result.claims if _is_in(claim, piece)]
        claims += [_in_context(claim, piece) for claim in questions]
        if not questions and not piece.is_generic:
            claims.append(make_claim(piece, reading.knowledge, AGREE))
    value = fmean(claim.support for claim in claims)
    return replace(result, value=value, claims=tuple(claims))


def _is_in(claim: Claim, piece: ResponsePiece) -> bool:
    return piece.span.start <= claim.span.start < piece.span.end


def _in_context(claim: Claim, piece: ResponsePiece) -> Claim:
    in_context = SENTENCE_WEIGHT * piece.support
    value = in_context + (1 - SENTENCE_WEIGHT) * claim.support
    if value > AGREE:
        status = Status.SUPPORTED
    elif Status.CONTRADICTED in (claim.status, judge_piece(piece, AGREE)):
        status = Status.CONTRADICTED
    else:
        status = Status.UNSUPPORTED
    stance = STANCES.get(status, Stance.NEITHER)
    evidence = tuple(place._replace(stance=stance) for place in claim.evidence)
    return replace(claim, support=value, status=status, evidence=evidence)
