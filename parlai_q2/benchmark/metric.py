"""
Times Q2 in batches, stage by stage, and in the one-question-at-a-time loop of the
published code, with the same models and responses in one run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from parlai_q2.benchmark.clock import StageClock, spread, timed
from parlai_q2.models.backend import Engine
from parlai_q2.presets import Preset
from parlai_q2.q2.metric import Q2Models, Q2Result, q2, q2_one_at_a_time
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.turns import Example, Span

SPANS, QUESTIONS, NLI = 'spans', 'questions', 'nli'
# The sections of a preset, beside ``nli``.
QUESTION_GENERATION, QUESTION_ANSWERING = 'question_generation', 'question_answering'
# Question answering runs twice: on the response, to see whether a question is valid,
# and on the knowledge, to answer it.
ON_RESPONSES, ON_KNOWLEDGE = 'answers in responses', 'answers in knowledge'
STAGES = (SPANS, QUESTIONS, ON_RESPONSES, ON_KNOWLEDGE, NLI)
# The largest difference allowed between a batch and one question at a time.
TOLERANCE = 0.0


def measure_batched(
    scorer: Q2Scorer, examples: Sequence[Example], rounds: int
) -> tuple[dict[str, Any], list[Q2Result]]:
    """
    Time Q2 in batches, and one response at a time; its models are warmed up first.

    :param examples: B of them, at least two.
    :param rounds: how often all are scored.
    :return: the measurements, with the seconds a response and those of each stage; and
        the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2(examples[:2], models, settings)
    stages = StageClock()
    watched = watch(models, stages, examples)

    def whole() -> list[Q2Result]:
        # In the portions that the scorer itself would take.
        results: list[Q2Result] = []
        for start in range(0, len(examples), scorer.at_once):
            results += q2(examples[start : start + scorer.at_once], watched, settings)
        return results

    times: list[float] = []
    results: list[Q2Result] = []
    for _ in range(rounds):
        seconds, results = timed(whole)
        times.append(seconds / len(examples))
    each = [timed(partial(q2, [example], models, settings))[0] for example in examples]
    count = rounds * len(examples)
    measurements = {
        'responses': len(examples),
        'questions': sum(len(result.claims) for result in results),
        'batched': spread(times),
        'one_response': spread(each),
        'stages': {name: s / count for name, s in stages.seconds.items()},
        'stage_share': stages.shares(),
    }
    return measurements, results


def measure_loop(
    scorer: Q2Scorer, examples: Sequence[Example]
) -> tuple[float, list[Q2Result]]:
    """
    Time Q2 one question at a time, in the order of the published code: seconds a
    response, and the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2_one_at_a_time(examples[0], models, settings)
    seconds, results = timed(
        lambda: [q2_one_at_a_time(example, models, settings) for example in examples]
    )
    return seconds / len(examples), results


def as_published(preset: Preset) -> Preset:
    """The same models run by transformers in fp32, as in the published code."""
    models = {
        name: replace(
            config, settings={**config.settings, 'engine': Engine.TRANSFORMERS}
        )
        for name, config in preset.models.items()
        if name in (QUESTION_GENERATION, QUESTION_ANSWERING, NLI)
    }
    return replace(preset, models={**preset.models, **models})


def differences(first: Sequence[Q2Result], other: Sequence[Q2Result]) -> list[float]:
    """The absolute difference of two runs' values, one number for each response."""
    return [abs(a.value - b.value) for a, b in zip(first, other, strict=True)]


def describe_metric(measurements: Mapping[str, Any]) -> str:
    """What :func:`measure_batched` found, with the loops, as text."""
    batched, alone = measurements['batched'], measurements['one_response']
    lines = [
        f'{measurements["responses"]} responses, {measurements["questions"]} questions',
        f'  in batches              {batched["median"]:.3f} s a response '
        f'({batched["min"]:.3f} to {batched["max"]:.3f})',
    ]
    lines += [
        f'    {stage:<21} {measurements["stages"][stage]:.3f} s, '
        f'{measurements["stage_share"][stage]:.0%} of the stages'
        for stage in STAGES
        if stage in measurements['stages']
    ]
    lines.append(
        f'  one response alone      {alone["median"]:.3f} s, '
        f'{alone["p95"]:.3f} s at the 95th percentile'
    )
    if 'loop' in measurements:
        lines += [
            f'  one question at a time  {measurements["loop"]:.3f} s a response, by '
            f'transformers: {measurements["speed_up"]:.1f} times as long',
            f'  largest difference      {measurements["largest_difference"]:.1e}, '
            'batches to one question at a time by the same engine',
            f'  mean difference         {measurements["mean_difference_to_loop"]:.3f}, '
            'to transformers in fp32',
        ]
    return '\n'.join(lines)


def watch(models: Q2Models, clock: StageClock, examples: Sequence[Example]) -> Q2Models:
    """
    The same models, with the time of each added to a clock, under :data:`STAGES`.

    :param examples: what will be scored.
    """
    responses = {example.response for example in examples}

    def answer(pairs: Sequence[tuple[str, str]]) -> list[Span | None]:
        # One call asks about responses or about knowledge, never about both.
        about_responses = all(text in responses for _, text in pairs)
        stage = ON_RESPONSES if about_responses else ON_KNOWLEDGE
        answers: list[Span | None] = clock.timed(stage, models.answerer.answer)(pairs)
        return answers

    generate = clock.timed(QUESTIONS, models.generator.generate)
    classify = clock.timed(NLI, models.nli.classify)
    return Q2Models(
        SimpleNamespace(settings=models.generator.settings, generate=generate),
        SimpleNamespace(settings=models.answerer.settings, answer=answer),
        SimpleNamespace(settings=models.nli.settings, classify=classify),
        clock.timed(SPANS, models.find_spans),
    )
