"""A reply that could be said, with what its generator and the scorer think of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from parlai_q2.records import Score


@dataclass(frozen=True)
class Candidate:
    """
    One reply that could be said.

    Only the text is needed. The first fields come from the generator; the reranker
    fills in the others.

    :param text: the reply.
    :param strategies: the searches that found it, in the order they ran.
    :param generator_score: its score in the search that found it first.
    :param mean_logprob: the mean log probability of a token under the generator, in
        nats.
    :param source: the generator's own record of it.
    :param place: its place in the generator's order, from 0.
    :param score: the scorer's score; None if it was pruned, or there is no knowledge.
    :param value: the score's value after the guards, in [0, 1]; None like the score.
    :param guards: in which ways it is degenerate: ``copy``, ``generic``.
    :param prefilter: the prefilter's score, if there is a prefilter.
    :param prefilter_value: the value of that score after the guards.

    >>> Candidate('Bees have five eyes.').score is None
    True
    """

    text: str
    strategies: tuple[str, ...] = ()
    generator_score: float = 0.0
    mean_logprob: float = 0.0
    source: Any = field(default=None, repr=False)
    place: int = 0
    score: Optional[Score] = None
    value: Optional[float] = None
    guards: tuple[str, ...] = ()
    prefilter: Optional[Score] = None
    prefilter_value: float = 0.0

    @property
    def verifiable(self) -> bool:
        """Whether it was scored and contained anything to verify."""
        return self.score is not None and self.score.verifiable


def merge(candidates: Sequence[Candidate]) -> list[Candidate]:
    """
    One candidate for each text, in order of first appearance, with all searches that
    found it. Texts that differ only in white space count as one.

    :param candidates: the candidates for one turn, in the generator's order.
    """
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        key = ' '.join(candidate.text.split())
        before = merged.setdefault(key, candidate)
        if before is not candidate:
            more = [s for s in candidate.strategies if s not in before.strategies]
            merged[key] = replace(before, strategies=(*before.strategies, *more))
    return list(merged.values())
