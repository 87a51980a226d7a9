"""
Times Q2 in batches, stage by stage, and in the one-question-at-a-time loop of the
published code, with the same models and responses in one run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, Optional

from parlai_q2.benchmark.clock import StageClock, spread, timed
from parlai_q2.q2.metric import Q2Models, Q2Result, q2
from parlai_q2.q2.one_at_a_time import q2_one_at_a_time
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Span

SPANS, QUESTIONS, NLI = 'spans', 'questions', 'nli'
# Question answering runs twice: on the response, to see whether a question is valid,
# and on the knowledge, to answer it.
ON_RESPONSES, ON_KNOWLEDGE = 'answers in responses', 'answers in knowledge'
STAGES = (SPANS, QUESTIONS, ON_RESPONSES, ON_KNOWLEDGE, NLI)
# The largest difference allowed between the two; padding affects the last digits.
TOLERANCE = 1e-4
Pair = tuple[str, str]


def measure_batched(
    scorer: Q2Scorer, pairs: Sequence[Pair], rounds: int
) -> tuple[dict[str, Any], list[Q2Result]]:
    """
    Time Q2 in batches, and one response at a time; its models are warmed up first.

    :param pairs: B pairs (knowledge, response), at least two.
    :param rounds: how often all pairs are scored.
    :return: the measurements, with the seconds a response and those of each stage; and
        the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2(pairs[:2], models, settings)
    stages = StageClock()
    watched = watch(models, stages, pairs)

    def whole() -> list[Q2Result]:
        # In the portions that the scorer itself would take.
        return [
            result
            for start in range(0, len(pairs), scorer.at_once)
            for result in q2(pairs[start : start + scorer.at_once], watched, settings)
        ]

    times: list[float] = []
    results: list[Q2Result] = []
    for _ in range(rounds):
        seconds, results = timed(whole)
        times.append(seconds / len(pairs))
    each = [timed(partial(q2, [pair], models, settings))[0] for pair in pairs]
    count = rounds * len(pairs)
    found = {
        'responses': len(pairs),
        'questions': sum(len(result.verdicts) for result in results),
        'batched': spread(times),
        'one_response': spread(each),
        'stages': {name: s / count for name, s in stages.seconds.items()},
        'stage_share': stages.shares(),
    }
    return found, results


def measure_loop(
    scorer: Q2Scorer, pairs: Sequence[Pair]
) -> tuple[float, list[Q2Result]]:
    """
    Time Q2 one question at a time, in fp32 with the questions of the model's own
    ``generate``, as in the published code: seconds a response, and the results.
    """
    models, settings = as_published(scorer.models), scorer.q2_settings
    q2_one_at_a_time(pairs[0], models, settings)
    seconds, results = timed(
        lambda: [q2_one_at_a_time(pair, models, settings) for pair in pairs]
    )
    return seconds / len(pairs), results


def as_published(models: Q2Models) -> Q2Models:
    """The same models, in fp32 without our own search: what the published code runs."""
    generator: Any = models.generator
    if not hasattr(generator, 'generating'):
        return models
    return replace(models, generator=generator.generating())


def differences(one: Sequence[Q2Result], other: Sequence[Q2Result]) -> list[float]:
    """The absolute difference of two runs' values, one number for each response."""
    return [abs(a.value - b.value) for a, b in zip(one, other, strict=True)]


def describe_metric(found: Mapping[str, Any]) -> str:
    """What :func:`measure_batched` found, with the loops, as text."""
    batched, alone = found['batched'], found['one_response']
    lines = [
        f'{found["responses"]} responses, {found["questions"]} questions',
        f'  in batches              {batched["median"]:.3f} s a response '
        f'({batched["min"]:.3f} to {batched["max"]:.3f})',
    ]
    lines += [
        f'    {stage:<21} {found["stages"][stage]:.3f} s, '
        f'{found["stage_share"][stage]:.0%} of the stages'
        for stage in STAGES
        if stage in found['stages']
    ]
    lines.append(
        f'  one response alone      {alone["median"]:.3f} s, '
        f'{alone["p95"]:.3f} s at the 95th percentile'
    )
    for preset, seconds in found.get('loop', {}).items():
        lines.append(
            f'  one question at a time  {seconds:.3f} s a response ({preset}): '
            f'{found["speed_up"][preset]:.1f} times as long'
        )
    if 'largest_difference' in found:
        lines.append(f'  largest difference      {found["largest_difference"]:.1e}')
    if 'mean_difference_to_float32' in found:
        mean = found['mean_difference_to_float32']
        lines.append(f'  mean difference to fp32 {mean:.3f}')
    return '\n'.join(lines)


def watch(models: Q2Models, clock: StageClock, pairs: Sequence[Pair]) -> Q2Models:
    """
    The same models, with the time of each added to a clock, under :data:`STAGES`.

    :param pairs: what will be scored, as (knowledge, response).
    """
    responses = {response for _, response in pairs}

    def answer(pairs: Sequence[Pair]) -> list[Optional[Span]]:
        # One call asks about responses or about knowledge, never about both.
        about_responses = all(text in responses for _, text in pairs)
        stage = ON_RESPONSES if about_responses else ON_KNOWLEDGE
        return clock.timed(stage, models.answerer.answer)(pairs)

    generate = clock.timed(QUESTIONS, models.generator.generate)
    classify = clock.timed(NLI, models.nli.classify)
    return Q2Models(
        SimpleNamespace(settings=models.generator.settings, generate=generate),
        SimpleNamespace(settings=models.answerer.settings, answer=answer),
        SimpleNamespace(settings=models.nli.settings, classify=classify),
        clock.timed(SPANS, models.find_spans),
    )
