"""End-to-end NLI: a classifier reads the whole knowledge and response at once."""

from typing import Any, Sequence

from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.presets import Preset
from parlai_q2.q2.compare import hard_score
from parlai_q2.records import NOT_VERIFIABLE_VALUE, Example, Label, Score
from parlai_q2.scorers.backends import backend
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.scorers.consistency import is_generic
from parlai_q2.text.readable import knows


class NliScorer(Scorer):
    """
    End-to-end NLI, the paper's baseline (section 4): knowledge as premise, response as
    hypothesis; entailment 1, neutral 0.5, contradiction 0.

    :param model: the classifier.
    :param preset: the preset's name, for signatures.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    """

    name = 'nli'
    has_models = True

    def __init__(
        self,
        model: NliModel,
        preset: str = 'custom',
        threshold: float = Scorer.threshold,
    ):
        self.model, self.preset, self.threshold = model, preset, threshold

    @classmethod
    def from_preset(
        cls,
        preset: Preset,
        threshold: float = Scorer.threshold,
        device: str = 'cpu',
        batch_size: Any = None,
    ) -> 'NliScorer':
        model = backend(
            SequenceNliModel, preset, 'nli', device=device, batch_size=batch_size
        )
        return cls(model, preset.name, threshold)

    @property
    def settings(self) -> dict:
        return {'preset': self.preset, **self.model.settings}

    def can_read(self, text: str) -> bool:
        return knows(getattr(self.model, 'tokenizer', None), text)

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        pairs = [(e.knowledge.lower(), e.response) for e in examples]
        signature = str(self.signature)
        return [self._score(p, signature) for p in self.model.classify(pairs)]

    def value(self, probabilities: NliProbabilities) -> float:
        """The value of the likeliest class: 1, 0.5 or 0."""
        return hard_score(probabilities, NOT_VERIFIABLE_VALUE)

    def _score(self, probabilities: NliProbabilities, signature: str) -> Score:
        value = self.value(probabilities)
        label = label_of(value, self.threshold)
        if is_generic(probabilities):
            label = Label.GENERIC
        return Score(value, label, parts=probabilities._asdict(), signature=signature)
