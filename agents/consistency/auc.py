"""
Computes the areas under the ROC curve that ``eval_model -auc 3`` asks of a classifier.
"""

from typing import Any, Mapping, Sequence

from parlai.core.torch_classifier_agent import AUCMetrics

from parlai_q2.errors import UnknownNameError


class Aucs:
    """
    Counts answers for the areas; one instance serves all copies of an agent.

    :param opt: ParlAI options; ``area_under_curve_digits`` and
        ``area_under_curve_class`` are read.
    """

    def __init__(self, opt: Mapping[str, Any]):
        self.digits = opt.get('area_under_curve_digits') or -1
        self.wanted: Sequence[str] = opt.get('area_under_curve_class') or ()
        self.classes: tuple[str, ...] = ()
        self.metrics: list[AUCMetrics] = []

    def add(self, label: str, probabilities: Mapping[str, float]) -> None:
        """
        Count one answer.

        :param label: the true class.
        :param probabilities: class to probability.
        """
        if self.classes != tuple(probabilities):
            self.classes = tuple(probabilities)
            self.reset()
        for metric in self.metrics:
            name = metric._class_name
            metric.update_raw([label], [probabilities[name]], name)

    def reset(self) -> None:
        """
        Start counting afresh.

        :raises UnknownNameError: when ``area_under_curve_class`` names an unknown
            class.
        """
        for name in self.wanted:
            if self.classes and name not in self.classes:
                raise UnknownNameError('class', name, self.classes)
        names = [c for c in self.classes if c in (self.wanted or self.classes)]
        self.metrics = [
            AUCMetrics(name, max_bucket_dec_places=self.digits) for name in names
        ]

    @property
    def indices(self) -> list[int]:
        """The indices of the classes that are counted."""
        return [self.classes.index(metric._class_name) for metric in self.metrics]
