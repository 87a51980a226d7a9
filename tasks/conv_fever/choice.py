"""Chooses which examples of a file are shown, and how often."""

from typing import Sequence

from parlai_q2.tasks.conv_fever.reader import CONTEXT, NONE, ExampleFile


class Choice:
    """
    Chooses examples by their kind; counts those that cannot be shown.

    :param perturbations: the perturbations to show; empty for all.
    :param perturbed: the changed texts to show; empty for all. Only ``perturbations``
        decides about consistent examples.
    :param context: whether the context is shown. If it is not, an example whose context
        was perturbed looks like a consistent one.
    """

    def __init__(
        self, perturbations: Sequence[str], perturbed: Sequence[str], context: bool
    ):
        self.perturbations, self.perturbed = perturbations, perturbed
        self.context = context
        self.left_out = 0

    def __call__(self, perturbation: str, perturbed: str) -> bool:
        if self.perturbations and perturbation not in self.perturbations:
            return False
        if self.perturbed and perturbed not in self.perturbed:
            named = perturbation == NONE and NONE in self.perturbations
            if not named:
                return False
        if perturbed == CONTEXT and not self.context:
            self.left_out += 1
            return False
        return True


def balanced(examples: ExampleFile) -> list[int]:
    """
    The places of examples, repeated so that both classes occur equally often.

    :param examples: the examples.
    :return: every place at least once. The places of the smaller class are repeated,
        the last time perhaps not all of them. If there is only one class, each place
        occurs once.
    """
    classes: tuple[list[int], list[int]] = ([], [])
    for place in range(len(examples)):
        classes[examples.consistent(place)].append(place)
    smaller, larger = sorted(classes, key=len)
    if not smaller:
        return larger
    times = -(-len(larger) // len(smaller))
    return sorted(larger + (smaller * times)[: len(larger)])
