"""
Scorers by shared words: no model, no download.
"""

from abc import abstractmethod
from typing import Sequence

from parlai_q2.errors import UnknownNameError
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.content_words import content_words, content_words_name
from parlai_q2.text.overlap import Overlap, overlap_of, token_overlap
from parlai_q2.text.rouge import rouge_l

MEASURES = ('f1', 'precision')


class SharedWordsScorer(Scorer):
    """
    Makes scores of :meth:`overlap`, which a subclass fills.

    :param measure: which of an overlap's numbers is the value: ``f1``, or
        ``precision``, the share of the response's words that the knowledge has.
    :param threshold: a value of at most this, in [0, 1], is inconsistent.
    """

    def __init__(self, measure: str = 'f1', threshold: float = Scorer.threshold):
        if measure not in MEASURES:
            raise UnknownNameError('overlap measure', measure, MEASURES)
        self.measure, self.threshold = measure, threshold

    @property
    def settings(self) -> dict:
        return {'measure': self.measure}

    @abstractmethod
    def overlap(self, knowledge: str, response: str) -> Overlap:
        """
        What two texts share.
        """

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        signature, scores = str(self.signature), []
        for example in examples:
            overlap = self.overlap(example.knowledge, example.response)
            value = getattr(overlap, self.measure)
            label = label_of(value, self.threshold)
            parts = {'precision': overlap.precision, 'f1': overlap.f1}
            scores.append(Score(value, label, parts=parts, signature=signature))
        return scores


class OverlapScorer(SharedWordsScorer):
    """
    Token overlap of response and knowledge under the normalisation that Q2 compares
    answers under.

    It is near the paper's "Overlap" baseline, whose code counts other words; for its
    numbers take :class:`ContentOverlapScorer`.
    """

    name = 'overlap'

    def overlap(self, knowledge: str, response: str) -> Overlap:
        return token_overlap(knowledge, response)


class ContentOverlapScorer(SharedWordsScorer):
    """
    F1 of the content words of response and knowledge: the "Overlap" baseline of
    Honovich et al. 2021 (section 4), as their released code computes it.
    """

    name = 'content_overlap'

    @property
    def settings(self) -> dict:
        return {**super().settings, 'tokens': content_words_name()}

    def overlap(self, knowledge: str, response: str) -> Overlap:
        # Lower case first, as in their code: some of spaCy's rules look at case.
        return overlap_of(content_words(knowledge.lower()), content_words(response))


class RougeLScorer(SharedWordsScorer):
    """
    ROUGE-L: the longest common subsequence of words, as F-measure.

    ``Score.parts`` has its precision too.
    """

    name = 'rouge_l'

    @property
    def settings(self) -> dict:
        return {**super().settings, 'tokens': 'letters_digits', 'stemmer': 'no'}

    def overlap(self, knowledge: str, response: str) -> Overlap:
        return rouge_l(knowledge, response)
