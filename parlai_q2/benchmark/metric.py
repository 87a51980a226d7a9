"""
Batched Q2 against the one-question-at-a-time loop: same models, same responses, one
run.
"""

from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from parlai_q2.benchmark.clock import StageClock, spread, timed
from parlai_q2.q2.metric import Q2Models, Q2Result, q2
from parlai_q2.q2.one_at_a_time import q2_one_at_a_time
from parlai_q2.scorers.q2 import Q2Scorer

# Values of the two ways may differ by no more (effects of padding on the last digits).
TOLERANCE = 1e-4
Pair = tuple[str, str]


def measure_metric(
    scorer: Q2Scorer, pairs: Sequence[Pair], rounds: int
) -> dict[str, Any]:
    """
    Time Q2 in batches, one response at a time, and one question at a time.

    :param scorer: its models are warmed up first.
    :param pairs: B pairs (knowledge, response), at least two.
    :param rounds: how often the batch is scored; the loop runs once.
    :return: seconds a response, their ratio, the stages' shares, and the largest
        difference of a value between batch and loop.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2(pairs[:2], models, settings)
    stages = StageClock()
    watched = watch(models, stages)
    times: list[float] = []
    batched: list[Q2Result] = []
    for _ in range(rounds):
        seconds, batched = timed(lambda: q2(pairs, watched, settings))
        times.append(seconds / len(pairs))
    alone = [timed(partial(q2, [pair], models, settings))[0] for pair in pairs]
    looped = [
        timed(partial(q2_one_at_a_time, pair, models, settings)) for pair in pairs
    ]
    loop = sum(seconds for seconds, _ in looped) / len(pairs)
    return {
        'responses': len(pairs),
        'questions': sum(len(result.verdicts) for result in batched),
        'loop': loop,
        'batched': spread(times),
        'speed_up': loop / median(times),
        'one_response': spread(alone),
        'stage_share': stages.shares(),
        'largest_difference': largest_difference(
            [result for _, result in looped], batched
        ),
    }


def watch(models: Q2Models, clock: StageClock) -> Q2Models:
    """
    The same models, with the time of each added to a clock.
    """
    generator: Any = _Timed(models.generator, 'generate', clock, 'question generation')
    answerer: Any = _Timed(models.answerer, 'answer', clock, 'question answering')
    nli: Any = _Timed(models.nli, 'classify', clock, 'nli')
    find_spans = clock.timed('spans', models.find_spans)
    return Q2Models(generator, answerer, nli, find_spans)


class _Timed:
    def __init__(self, backend: Any, method: str, clock: StageClock, stage: str):
        self.settings = backend.settings
        setattr(self, method, clock.timed(stage, getattr(backend, method)))


def largest_difference(one: Sequence[Q2Result], other: Sequence[Q2Result]) -> float:
    """
    The largest difference of two runs' values over all responses.
    """
    pairs = zip(one, other, strict=True)
    return max((abs(a.value - b.value) for a, b in pairs), default=0.0)
