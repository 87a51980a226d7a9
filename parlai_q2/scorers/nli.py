"""End-to-end NLI: a classifier reads the whole knowledge and response at once."""

from typing import Sequence

from parlai_q2.models.protocols import NliProbabilities
from parlai_q2.q2.compare import hard_score
from parlai_q2.records import NOT_VERIFIABLE_VALUE, Example, Label, Score
from parlai_q2.scorers import backends
from parlai_q2.scorers.base import label_of
from parlai_q2.scorers.consistency import ClassifierScorer, is_generic


class NliScorer(ClassifierScorer):
    """
    End-to-end NLI, the paper's baseline (section 4): knowledge as premise, response as
    hypothesis; entailment 1, neutral 0.5, contradiction 0.
    """

    name = 'nli'
    load_model = staticmethod(backends.nli)

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        pairs = [(e.knowledge.lower(), e.response) for e in examples]
        signature = str(self.signature)
        return [self._score(p, signature) for p in self.model.classify(pairs)]

    def _score(self, probabilities: NliProbabilities, signature: str) -> Score:
        value = hard_score(probabilities, NOT_VERIFIABLE_VALUE)
        label = label_of(value, self.threshold)
        if is_generic(probabilities):
            label = Label.GENERIC
        return Score(value, label, parts=probabilities._asdict(), signature=signature)
