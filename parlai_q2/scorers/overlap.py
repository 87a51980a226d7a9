"""
Scorers by word overlap: no model, no download, microseconds.
"""

from typing import Sequence

from parlai_q2.records import Example, Label, Score
from parlai_q2.scorers.base import Scorer
from parlai_q2.text.overlap import token_overlap


class OverlapScorer(Scorer):
    """
    Token overlap of response and knowledge: the paper's "Overlap" baseline (section 4).

    :param measure: ``f1`` (the paper's), or ``precision``: the share of the response's
        words that the knowledge has.
    :param threshold: at most this is inconsistent.
    """

    name = 'overlap'

    def __init__(self, measure: str = 'f1', threshold: float = Scorer.threshold):
        from parlai_q2.errors import UnknownNameError

        if measure not in ('f1', 'precision'):
            raise UnknownNameError('overlap measure', measure, ('f1', 'precision'))
        self.measure, self.threshold = measure, threshold

    @property
    def settings(self) -> dict:
        return {'measure': self.measure}

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature, scores = str(self.signature), []
        for example in examples:
            overlap = token_overlap(example.knowledge, example.response)
            value = getattr(overlap, self.measure)
            label = Label.CONSISTENT if value > self.threshold else Label.INCONSISTENT
            parts = {'precision': overlap.precision, 'f1': overlap.f1}
            scores.append(Score(value, label, parts=parts, signature=signature))
        return scores
