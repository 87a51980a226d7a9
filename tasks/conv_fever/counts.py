"""Counts the examples of each kind, and compares the counts with the paper's."""

from typing import Iterable, Mapping

from parlai_q2.tasks.conv_fever.reader import (
    ENTITY_SWAP,
    NEGATION,
    NONE,
    PERTURBATIONS,
    RANDOM_PAIRING,
    ConvFeverExample,
)

# The paper's counts (Santhanam et al. 2021, the table of Conv-FEVER's sizes).
PAPER = {
    NONE: 68_957,
    RANDOM_PAIRING: 137_914,
    NEGATION: 107_845,
    ENTITY_SWAP: 73_178,
}
# Conversations in the published training file; no other file is compared.
PUBLISHED_CONVERSATIONS = 18_430
# A count that differs from the paper's by more than this share is worth a warning.
TOLERANCE = 0.05


class Counts:
    """Counts examples by perturbation and by the text that was changed."""

    def __init__(self) -> None:
        self._by_kind: dict[tuple[str, str], int] = {}

    def add(self, examples: Iterable[ConvFeverExample]) -> None:
        """Count more examples."""
        for example in examples:
            kind = example.perturbation, example.perturbed
            self._by_kind[kind] = self._by_kind.get(kind, 0) + 1

    @property
    def by_perturbation(self) -> dict[str, int]:
        """
        The count of each perturbation; ``none`` stands for the consistent examples.
        """
        return {
            name: sum(n for (kind, _), n in self._by_kind.items() if kind == name)
            for name in PERTURBATIONS
        }

    @property
    def by_text(self) -> dict[str, int]:
        """
        The count of each perturbation and changed text, e.g. ``negation of response``.
        """
        return {
            f'{kind} of {text}': n
            for (kind, text), n in sorted(self._by_kind.items())
            if text
        }


def beside_the_paper(counts: Mapping[str, int]) -> list[str]:
    """A line for each perturbation: our count, the paper's, and the difference."""
    return [
        f'{name}: {counts[name]:,}, in the paper {paper:,} '
        f'({(counts[name] - paper) / paper:+.1%})'
        for name, paper in PAPER.items()
    ]


def far_from_the_paper(counts: Mapping[str, int]) -> list[str]:
    """The perturbations whose count differs by more than :data:`TOLERANCE`."""
    return [
        name
        for name, paper in PAPER.items()
        if abs(counts[name] - paper) > TOLERANCE * paper
    ]
