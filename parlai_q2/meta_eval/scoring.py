"""
Scores all texts of an evaluation, scorer by scorer.

Scorers are given wrapped in their cache, so a run that is stopped goes on where it was,
and a second run scores nothing.
"""

import time
from dataclasses import dataclass
from math import isfinite
from typing import Callable, Iterable, Mapping, Optional, Sequence

from parlai_q2.errors import ConfigError
from parlai_q2.meta_eval.judged import Pair
from parlai_q2.meta_eval.measure import Measure
from parlai_q2.records import Example, Score
from parlai_q2.scorers.base import Scorer, label_of

# Texts in one call of a scorer: what a stopped run can lose.
CHUNK = 64

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Cost:
    """
    What scoring took, where anything was scored and not taken from a cache.

    :param responses: how many were scored.
    :param seconds: what that took, models' loading left out of neither.
    """

    responses: int = 0
    seconds: float = 0.0

    def __add__(self, other: 'Cost') -> 'Cost':
        return Cost(self.responses + other.responses, self.seconds + other.seconds)


def score_pairs(
    name: str,
    scorer: Scorer,
    pairs: Iterable[Pair],
    progress: Optional[Progress] = None,
) -> tuple[Measure, Cost]:
    """
    Score texts, equal ones once.

    :param name: what the measure is called.
    :param scorer: what scores.
    :param pairs: (knowledge, response).
    :param progress: called first and after each chunk with the name, how many are
        done, and of how many.
    :raises ConfigError: when the scorer gives what is no number.
    """
    distinct = list(dict.fromkeys(pairs))
    scores: dict[Pair, Score] = {}
    cost = Cost()
    if progress:
        progress(name, 0, len(distinct))
    for start in range(0, len(distinct), CHUNK):
        chunk = distinct[start : start + CHUNK]
        missed, began = getattr(scorer, 'misses', None), time.perf_counter()
        found = scorer.score([Example(*pair) for pair in chunk])
        seconds = time.perf_counter() - began
        fresh = len(chunk) if missed is None else scorer.misses - missed  # type: ignore
        if fresh:
            cost += Cost(fresh, seconds)
        for pair, score in zip(chunk, found, strict=True):
            if not isfinite(score.value):
                raise ConfigError(
                    f'The scorer {name} gave {score.value} for the response '
                    f'{pair[1][:60]!r}. A score must be a finite number.'
                )
            scores[pair] = score
        if progress:
            progress(name, len(scores), len(distinct))
    return Measure(name, str(scorer.signature), scorer.threshold, scores), cost


def without_nli(q2: Measure, name: str, scorer: Scorer) -> Measure:
    """
    Q2 without NLI out of the scores of Q2, which hold it as the part ``q2_f1``.

    The questions and answers of both are the same, and so are the numbers; asking again
    would take as long as Q2.

    :param q2: a measure of Q2.
    :param name: what the new measure is called.
    :param scorer: Q2 without NLI, of the same models and settings; it scores nothing.
    """
    signature = str(scorer.signature)
    scores = {}
    for pair, score in q2.scores.items():
        # A response without a text or knowledge has no parts.
        value = score.parts.get('q2_f1', score.value)
        label = label_of(value, scorer.threshold) if score.parts else score.label
        scores[pair] = Score(
            value, label, score.verdicts, score.fallback, signature=signature
        )
    return Measure(name, signature, scorer.threshold, scores)


def mean_seconds(costs: Mapping[str, Cost], names: Sequence[str]) -> dict[str, float]:
    """
    Seconds a response by name, of those that were scored.
    """
    return {
        name: costs[name].seconds / costs[name].responses
        for name in names
        if name in costs and costs[name].responses
    }
