"""Two classifiers combined: models of different sizes make different mistakes."""

from collections.abc import Sequence

import numpy as np

from parlai_q2.json_values import JsonObject
from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.protocols import NliModel, NliProbabilities

# The lower bound of probabilities, so that no model decides alone.
LEAST_PROBABILITY = 1e-6


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
        self.tokenizer = first.tokenizer

    @property
    def settings(self) -> JsonObject:
        first, second = (model.settings for model in self.models)
        others = {f'{k}_2': v for k, v in second.items() if first.get(k) != v}
        return {**first, **others}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        if not pairs:
            return []
        both = [model.classify(pairs) for model in self.models]
        logs = np.log(np.maximum(np.array(both), LEAST_PROBABILITY))
        means = np.exp(logs.mean(0))
        means /= means.sum(1, keepdims=True)
        return [NliProbabilities(*row) for row in means.tolist()]
