"""A scorer of one's own, as a user would write it."""

from parlai_q2.records import Label, Score
from parlai_q2.scorers.base import Scorer


class LengthScorer(Scorer):
    """The longer, the better."""

    name = 'length'

    @property
    def settings(self):
        return {'unit': 'characters'}

    def score_texts(self, examples):
        return [
            Score(min(1.0, len(e.response) / 100), Label.INCONSISTENT) for e in examples
        ]
