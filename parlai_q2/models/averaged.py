"""The mean of two classifiers: models of different size make different mistakes."""

from typing import Any, Sequence

from parlai_q2.models.nli import SequenceNliModel
from parlai_q2.models.protocols import NliModel, NliProbabilities
from parlai_q2.presets import Section


class AveragedNliModel:
    """
    Classifies pairs by the weighted mean of two models' probabilities.

    :param first: the one whose tokenizer says which scripts it reads.
    :param share: its weight, between 0 and 1.
    """

    def __init__(self, first: SequenceNliModel, second: NliModel, share: float):
        self.models: tuple[NliModel, ...] = (first, second)
        self.tokenizer, self.share = first.tokenizer, share

    @property
    def settings(self) -> dict[str, Any]:
        first, second = (model.settings for model in self.models)
        # What both have is said once.
        own = {f'{k}_2': v for k, v in second.items() if first.get(k) != v}
        return {**first, **own, f'{Section.DETECTOR}_share': f'{self.share:g}'}

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[NliProbabilities]:
        found = (model.classify(pairs) for model in self.models)
        return [
            NliProbabilities(
                *(b + self.share * (a - b) for a, b in zip(one, other, strict=True))
            )
            for one, other in zip(*found, strict=True)
        ]
