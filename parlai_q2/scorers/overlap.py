"""Scorers that count shared words; they need no model and no download."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from parlai_q2.claims import Score
from parlai_q2.scorers.base import Scorer, label_of
from parlai_q2.text.normalize import content_words, content_words_name
from parlai_q2.text.overlap import Overlap, overlap_of, rouge_l, token_overlap
from parlai_q2.turns import Example


class SharedWordsScorer(Scorer):
    """
    Base class of scorers whose value is an overlap. A subclass implements
    :meth:`overlap`, and may set which number of it is the value.
    """

    measure = 'f1'

    @property
    def settings(self) -> dict[str, Any]:
        return {'measure': self.measure}

    @abstractmethod
    def overlap(self, knowledge: str, response: str) -> Overlap:
        """The overlap of two texts."""

    def score_texts(self, examples: Sequence[Example]) -> list[Score]:
        scores = []
        for example in examples:
            overlap = self.overlap(example.knowledge_text, example.response)
            value = getattr(overlap, self.measure)
            label = label_of(value, self.threshold)
            parts = {'precision': overlap.precision, 'f1': overlap.f1}
            scores.append(Score(value, label, parts=parts))
        return scores


class OverlapScorer(SharedWordsScorer):
    """
    Token overlap of response and knowledge, with Q2's normalisation of answers.

    It is similar to the paper's "Overlap" baseline, whose code counts other words; use
    :class:`ContentOverlapScorer` to get that baseline's numbers.
    """

    name = 'overlap'

    def overlap(self, knowledge: str, response: str) -> Overlap:
        return token_overlap(knowledge, response)


class PrecisionScorer(OverlapScorer):
    """The share of the response's words that occur in the knowledge."""

    name = measure = 'precision'


class ContentOverlapScorer(SharedWordsScorer):
    """
    F1 of the content words of response and knowledge: the "Overlap" baseline of
    Honovich et al. 2021, as their released code computes it.
    """

    name = 'content_overlap'

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, 'tokens': content_words_name()}

    def overlap(self, knowledge: str, response: str) -> Overlap:
        # Lower-case first, as in their code: some of spaCy's rules depend on case.
        return overlap_of(content_words(knowledge.lower()), content_words(response))


class RougeLScorer(SharedWordsScorer):
    """The F-measure of ROUGE-L; ``Score.parts`` also has its precision."""

    name = 'rouge_l'
    # Up to this length the time hardly depends on the response.
    max_response_words = 5_000

    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, 'tokens': 'letters_digits', 'stemmer': 'no'}

    def overlap(self, knowledge: str, response: str) -> Overlap:
        return rouge_l(knowledge, response)
