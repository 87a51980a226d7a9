"""
Q2 as a scorer.
"""

from typing import Sequence

from parlai_q2.q2.metric import Q2Models, Q2Result, nli_value, q2
from parlai_q2.q2.settings import Q2Settings
from parlai_q2.records import NOT_VERIFIABLE_VALUE, Example, Label, Score
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.pipeline import pipeline_name

# Responses in one pass of the pipeline: enough to fill the models' batches, few enough
# that memory does not grow with the number of responses.
CHUNK = 64


PAPER_SETTINGS = Q2Settings()


class Q2Scorer(Scorer):
    """
    The Q2 metric (Honovich et al. 2021), with every question as evidence.

    ``Score.parts`` has ``q2_f1`` (Q2 without NLI) and ``nli`` (end-to-end NLI: 1, 0.5
    or 0).

    :param models: what asks, answers and compares.
    :param settings: the metric's choices.
    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    """

    def __init__(
        self,
        models: Q2Models,
        settings: Q2Settings = PAPER_SETTINGS,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
    ):
        self.models, self.q2_settings = models, settings
        self.preset, self.threshold = preset, threshold

    @property
    def name(self) -> str:  # type: ignore[override]
        return 'q2' if self.q2_settings.use_nli else 'q2_f1'

    @property
    def settings(self) -> dict:
        return {
            'preset': self.preset,
            'spans': pipeline_name(),
            **self.models.generator.settings,
            **self.models.answerer.settings,
            **self.models.nli.settings,
            **self.q2_settings.describe(),
        }

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature, scores = str(self.signature), []
        for start in range(0, len(examples), CHUNK):
            chunk = examples[start : start + CHUNK]
            pairs = [(e.knowledge, e.response) for e in chunk]
            results = q2(pairs, self.models, self.q2_settings)
            scores += [self._score(result, signature) for result in results]
        return scores

    def _score(self, result: Q2Result, signature: str) -> Score:
        fallback = not result.verdicts
        label = label_of(result.value, self.threshold)
        if fallback and self.q2_settings.use_nli and result.nli.label == 'neutral':
            label = Label.NOT_VERIFIABLE
        nli = nli_value(result.nli, NOT_VERIFIABLE_VALUE)
        return Score(
            result.value,
            label,
            result.verdicts,
            fallback,
            {'q2_f1': result.f1, 'nli': nli},
            signature,
        )
