"""
Measures how the time of Q2 and of the detector grows with the number of candidates, the
length of the response and the length of the knowledge.
"""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import median
from typing import Any

from parlai_q2.benchmark.clock import timed
from parlai_q2.records import Example

CANDIDATES = (1, 2, 5, 10, 20)
TIMES_AS_LONG = (1, 2, 4, 8)
REPEATS = 3

Score = Callable[[list[Example]], Any]


def measure_growth(score: Score, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """
    Time calls of a scorer.

    :param score: a scorer's ``score``.
    :param pairs: at least one (knowledge, response). Numbers of candidates above the
        number of pairs are left out.
    :return: for each of the three, median seconds of a call by size.
    """
    score(_examples(pairs[:1]))
    knowledge = pairs[0][0]
    responses = [response for _, response in pairs]
    sources = [k for k, _ in pairs]
    return {
        'candidates': {
            n: _seconds(score, [[(knowledge, r) for r in responses[:n]]])
            for n in CANDIDATES
            if n <= len(pairs)
        },
        'response_length': {
            n: _seconds(
                score,
                [
                    [(k, ' '.join(_run(responses, i, n)))]
                    for i, (k, _) in enumerate(pairs[:REPEATS])
                ],
            )
            for n in TIMES_AS_LONG
        },
        'knowledge_length': {
            n: _seconds(
                score,
                [
                    [(' '.join(_run(sources, i, n)), r)]
                    for i, (_, r) in enumerate(pairs[:REPEATS])
                ],
            )
            for n in TIMES_AS_LONG
        },
    }


def _run(texts: Sequence[str], start: int, count: int) -> list[str]:
    # ``count`` consecutive texts, continuing with the first after the last.
    return [texts[(start + n) % len(texts)] for n in range(count)]


def _examples(pairs: Sequence[tuple[str, str]]) -> list[Example]:
    return [Example(knowledge=k, response=r) for k, r in pairs]


def _seconds(score: Score, calls: Sequence[Sequence[tuple[str, str]]]) -> float:
    repeats = 1 if len(calls) > 1 else REPEATS
    return median(
        timed(partial(score, _examples(call)))[0]
        for _ in range(repeats)
        for call in calls
    )
