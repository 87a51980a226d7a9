"""Candidate replies, and their ranking with the rows that report it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from parlai_q2.claims import Score
from parlai_q2.turns import Passage, joined


@dataclass(frozen=True)
class Candidate:
    """
    One reply that could be said.

    Only the text is needed. The first fields come from the generator: the searches that
    found it, its score in the first of them, the mean log probability of its tokens (in
    nats) and the generator's own record. The reranker fills in the others.

    :param place: its place in the generator's order, from 0.
    :param score: the scorer's score; None if it was pruned, or there is no knowledge.
    :param value: the score's value after the guards, in [0, 1]; None like the score.
    :param guards: in which ways it is degenerate: ``copy``, ``generic``.
    :param prefilter: the score and value of the prefilter, if there is one.

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
    """
    merged: dict[str, Candidate] = {}
    for candidate in candidates:
        key = ' '.join(candidate.text.split())
        before = merged.setdefault(key, candidate)
        if before is not candidate:
            more = [s for s in candidate.strategies if s not in before.strategies]
            merged[key] = replace(before, strategies=(*before.strategies, *more))
    return list(merged.values())


@dataclass(frozen=True)
class Ranking:
    """
    The candidates of one turn in their new order.

    :param candidates: N candidates, best first.
    :param reason: why the first was chosen, one of the texts in
        :class:`~parlai_q2.rerank.choice.Reason`.
    :param abstain: whether to say that one does not know instead.
    :param passages: the knowledge they were scored against; empty if there is none.
    """

    candidates: tuple[Candidate, ...]
    reason: str
    abstain: bool = False
    passages: tuple[Passage, ...] = ()

    @property
    def knowledge(self) -> str:
        """The passages as one text."""
        return joined(self.passages)

    @property
    def chosen(self) -> Candidate:
        """The best candidate."""
        return self.candidates[0]

    @property
    def first(self) -> Candidate:
        """The candidate that came first in the generator's order."""
        return min(self.candidates, key=lambda candidate: candidate.place)

    @property
    def order(self) -> list[int]:
        """The places that the candidates had before, best first."""
        return [candidate.place for candidate in self.candidates]

    @property
    def verifiable(self) -> bool:
        """Whether any candidate contained anything to verify."""
        return any(candidate.verifiable for candidate in self.candidates)

    def rows(self) -> list[dict[str, Any]]:
        """
        A JSON-safe row for each candidate, best first.

        :return: ``text``, ``strategies``, ``generator_score`` and ``mean_logprob``
            (None if not finite), the fields of ``Score.to_dict`` but the signature
            (score and label are None for a candidate that was not scored), ``guards``,
            ``guarded_score``, ``prefilter_score``, ``chosen``, ``first`` (whether it
            was the generator's first) and ``reason`` (for the chosen one).
        """
        return [
            {
                'text': one.text,
                'strategies': list(one.strategies),
                'generator_score': _finite(one.generator_score),
                'mean_logprob': _finite(one.mean_logprob),
                **_scored(one),
                'guards': list(one.guards),
                'guarded_score': one.value,
                'prefilter_score': one.prefilter.value if one.prefilter else None,
                'chosen': one is self.chosen,
                'first': one is self.first,
                'reason': self.reason if one is self.chosen else None,
            }
            for one in self.candidates
        ]


def _scored(candidate: Candidate) -> dict[str, Any]:
    if candidate.score is None:
        unscored = {'score': None, 'label': None, 'fallback': False}
        return {**unscored, 'verdicts': [], 'statements': [], 'parts': {}}
    fields = candidate.score.to_dict()
    # All rows share one signature, which is reported beside them.
    fields.pop('signature')
    return fields


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None
