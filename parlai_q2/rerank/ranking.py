"""Candidates in their new order, and the rows that report them."""

import math
from dataclasses import dataclass
from typing import Any, Optional

from parlai_q2.rerank.candidate import Candidate


@dataclass(frozen=True)
class Ranking:
    """
    The candidates of one turn in their new order.

    :param candidates: N candidates, best first.
    :param reason: why the first was chosen, one of the texts in
        :class:`~parlai_q2.rerank.choice.Reason`.
    :param abstain: whether to say that one does not know instead.
    :param knowledge: the knowledge they were scored against; empty if there is none.
    """

    candidates: tuple[Candidate, ...]
    reason: str
    abstain: bool = False
    knowledge: str = ''

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

        :return: ``text``, ``strategies`` (those that found it), ``generator_score`` and
            ``mean_logprob`` (None if not finite), ``score``, ``label``, ``fallback``,
            ``verdicts`` and ``parts`` (as in ``Score.to_dict``; score and label are
            None for a candidate that was not scored), ``guards`` and ``guarded_score``,
            ``prefilter_score``, ``chosen``, ``first`` (whether it was the generator's
            first) and ``reason`` (for the chosen one).
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
        return {
            'score': None,
            'label': None,
            'fallback': False,
            'verdicts': [],
            'parts': {},
        }
    fields = candidate.score.to_dict()
    # All rows share one signature, which is reported beside them.
    fields.pop('signature')
    return fields


def _finite(value: float) -> Optional[float]:
    return value if math.isfinite(value) else None
