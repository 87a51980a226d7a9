"""Two models combined: models of different sizes make different mistakes."""

from collections.abc import Sequence

import numpy as np

from parlai_q2.json_values import JsonObject
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.nli_types import NliModel, NliProbabilities
from parlai_q2.models.relevance import LEAST, AnswerLogits, RelevanceModel

# The lower bound of probabilities, so that no model decides alone.
LEAST_PROBABILITY = 1e-6
# The mean of two logits that a reply is the best one is multiplied by this: models that
# make different mistakes have a mean nearer to 0, and the weights of the choice were
# fitted to one model.
SHARPNESS = 1.75


class NliEnsemble(NliModel):
    """
    Classifies pairs by the normalised geometric mean of two classifiers' probabilities
    (a logarithmic opinion pool; Heskes 1998).

    :param first: the classifier whose tokenizer decides which texts can be read.
    :param second: the other one; its settings get the suffix ``_2`` in signatures where
        they differ.
    """

    def __init__(self, first: SequenceNliModel, second: SequenceNliModel):
        self.models = (first, second)
        self.load_tokenizer = first.load_tokenizer

    @property
    def settings(self) -> JsonObject:
        return _joined_settings(*self.models)

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        if not pairs:
            return []
        both = [model.classify(pairs) for model in self.models]
        logs = np.log(np.maximum(np.array(both), LEAST_PROBABILITY))
        means = np.exp(logs.mean(0))
        means /= means.sum(1, keepdims=True)
        return [NliProbabilities(*row) for row in means.tolist()]


class RelevanceEnsemble:
    """
    Reads replies with two models of relevance, by the mean of their logits; that of
    ``best`` is multiplied by :data:`SHARPNESS`.

    :param first: one model.
    :param second: the other one; see :class:`NliEnsemble` for its settings.
    """

    def __init__(self, first: RelevanceModel, second: RelevanceModel):
        self.models = (first, second)

    @property
    def settings(self) -> JsonObject:
        """The settings that identify both models in signatures."""
        return _joined_settings(*self.models)

    def predict_relevance(
        self, inputs: Sequence[tuple[Sequence[str], str]]
    ) -> list[float]:
        """See :class:`~parlai_q2.models.relevance.RelevanceModel`."""
        both = [model.predict_relevance(inputs) for model in self.models]
        return [sum(logits) / len(logits) for logits in zip(*both, strict=True)]

    def predict_answers(
        self, inputs: Sequence[tuple[str, Sequence[str], str]]
    ) -> list[AnswerLogits]:
        """See :class:`~parlai_q2.models.relevance.RelevanceModel`."""
        both = [model.predict_answers(inputs) for model in self.models]
        return [
            AnswerLogits(
                best=max(LEAST, SHARPNESS * (first.best + second.best) / 2),
                support=(first.support + second.support) / 2,
            )
            for first, second in zip(*both, strict=True)
        ]


def _joined_settings(*models: SequenceNliModel | RelevanceModel) -> JsonObject:
    first, second = (model.settings for model in models)
    others = {f'{k}_2': v for k, v in second.items() if first.get(k) != v}
    return {**first, **others}
