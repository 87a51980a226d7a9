"""End-to-end NLI as a scorer, the baseline of the Q2 paper."""

from collections.abc import Sequence
from typing import Any

from parlai_q2.claims import NOT_VERIFIABLE_VALUE, Label, Score
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.presets import Preset
from parlai_q2.q2.compare import hard_score
from parlai_q2.q2.metric import excerpt_for_response
from parlai_q2.scorers import backends
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.consistency import ClassifierScorer
from parlai_q2.turns import Example


class NliScorer(ClassifierScorer):
    """
    End-to-end NLI, the paper's baseline: knowledge as premise, response as
    hypothesis; entailment 1, neutral 0.5, contradiction 0.

    :param knowledge_words: of knowledge of more words, only the sentences are read that
        match those of the response best; 0, as in the paper, reads all of it. Presets
        have it among their settings of Q2.
    """

    name = 'nli'
    load_model = staticmethod(backends.nli)

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
        knowledge_words: int = 0,
    ):
        super().__init__(model, preset, threshold)
        self.knowledge_words = knowledge_words

    @classmethod
    def from_preset(cls, preset: Preset, *args: Any, **options: Any) -> 'NliScorer':
        options.setdefault('knowledge_words', preset.q2.get('knowledge_words', 0))
        scorer: NliScorer = super().from_preset(preset, *args, **options)
        return scorer

    @property
    def settings(self) -> dict[str, object]:
        return {**super().settings, 'knowledge_words': self.knowledge_words}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        words = self.knowledge_words
        pairs = [(excerpt_for_response(e, words).lower(), e.response) for e in examples]
        return [self._score(p) for p in self.model.classify(pairs)]

    def _score(self, probabilities: NliProbabilities) -> Score:
        value = hard_score(probabilities, NOT_VERIFIABLE_VALUE)
        label = label_of(value, self.threshold)
        if probabilities.generic > max(probabilities[:3]):
            label = Label.GENERIC
        return Score(value, label, parts=probabilities._asdict())
