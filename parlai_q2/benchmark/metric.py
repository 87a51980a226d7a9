"""
Batched Q2 against the one-question-at-a-time loop: same models, same responses, one
run.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from parlai_q2.benchmark.clock import StageClock, spread, timed
from parlai_q2.q2.metric import Q2Models, Q2Result, q2
from parlai_q2.q2.one_at_a_time import q2_one_at_a_time
from parlai_q2.scorers.q2 import Q2Scorer

# Values of the two ways may differ by no more (effects of padding on the last digits).
TOLERANCE = 1e-4
Pair = tuple[str, str]


def measure_batched(
    scorer: Q2Scorer, pairs: Sequence[Pair], rounds: int
) -> tuple[dict[str, Any], list[Q2Result]]:
    """
    Time Q2 in batches, and one response at a time.

    :param scorer: its models are warmed up first.
    :param pairs: B pairs (knowledge, response), at least two.
    :param rounds: how often the batch is scored.
    :return: seconds a response and the stages' shares; and the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2(pairs[:2], models, settings)
    stages = StageClock()
    watched = watch(models, stages)
    times: list[float] = []
    results: list[Q2Result] = []
    for _ in range(rounds):
        seconds, results = timed(lambda: q2(pairs, watched, settings))
        times.append(seconds / len(pairs))
    alone = [timed(partial(q2, [pair], models, settings))[0] for pair in pairs]
    found = {
        'responses': len(pairs),
        'questions': sum(len(result.verdicts) for result in results),
        'batched': spread(times),
        'one_response': spread(alone),
        'stage_share': stages.shares(),
    }
    return found, results


def measure_loop(
    scorer: Q2Scorer, pairs: Sequence[Pair]
) -> tuple[float, list[Q2Result]]:
    """
    Time Q2 one question at a time.

    :return: seconds a response; and the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2_one_at_a_time(pairs[0], models, settings)
    seconds, results = timed(
        lambda: [q2_one_at_a_time(pair, models, settings) for pair in pairs]
    )
    return seconds / len(pairs), results


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


def differences(one: Sequence[Q2Result], other: Sequence[Q2Result]) -> list[float]:
    """
    How far two runs' values are apart, one number a response.
    """
    return [abs(a.value - b.value) for a, b in zip(one, other, strict=True)]
