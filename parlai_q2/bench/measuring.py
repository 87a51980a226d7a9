"""
Measures the machine and its clocks; Q2 in batches, stage by stage, and in the
one-question-at-a-time loop of the published code, with the same models and responses in
one run; and what reranking adds to a turn.
"""

import json
import math
import os
import platform
import resource
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from pathlib import Path
from statistics import fmean, median
from types import SimpleNamespace
from typing import Any

from parlai_q2.decimals import percent
from parlai_q2.json_values import JsonObject
from parlai_q2.models.backend import Engine
from parlai_q2.models.device import gpus
from parlai_q2.presets import Preset, Section
from parlai_q2.q2.metric import Q2Models, Q2Result, q2, q2_one_at_a_time
from parlai_q2.scorers.q2 import Q2Scorer
from parlai_q2.threads import cores
from parlai_q2.turns import Example, Span


def sample() -> list[JsonObject]:
    """The records of the evaluation turns of the sample that ships."""
    path = files('parlai_q2.tasks.grounded_sample') / 'sample.jsonl'
    lines = path.read_text(encoding='utf-8').splitlines()
    return [fields for fields in map(json.loads, lines) if fields['fold'] == 'eval']


def timed(function: Callable[[], object]) -> tuple[float, Any]:
    """Call a function; return the seconds that it took, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


class StageClock:
    """Adds up the time of each stage of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def timed(self, stage: str, function: Callable[..., object]) -> Callable[..., Any]:
        """Wrap a function, so that its time is added to a stage."""

        def run(*args: object, **options: object) -> Any:
            seconds, result = timed(partial(function, *args, **options))
            self.seconds[stage] += seconds
            return result

        return run

    def shares(self) -> dict[str, float]:
        """Each stage's share of the stages' time; they sum to 1."""
        total = sum(self.seconds.values()) or 1.0
        return {name: round(s / total, 3) for name, s in self.seconds.items()}


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """The median, minimum, maximum and 95th percentile of times, at least one."""
    ordered = sorted(seconds)
    return {
        'median': median(ordered),
        'min': ordered[0],
        'p95': ordered[math.ceil(0.95 * len(ordered)) - 1],
        'max': ordered[-1],
    }


def machine() -> JsonObject:
    """Describe the machine that the timings were taken on."""
    description: JsonObject = {
        'processor': processor(),
        'cores': cores(),
        'python': platform.python_version(),
        # These limit the cores.
        'openmp': {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(('OMP_', 'GOMP_', 'MKL_', 'KMP_'))
        },
        'gpus': gpus(),
    }
    for package in ('ctranslate2', 'torch', 'transformers'):
        try:
            description[package] = version(package)
        except PackageNotFoundError:
            description[package] = None
    return description


def processor() -> str:
    """The processor's name, if the system reports one."""
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as lines:
            for line in lines:
                if line.startswith('model name'):
                    return line.partition(':')[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def processor_seconds(process: int) -> float | None:
    """The processor time of a process and its children; None without ``/proc``."""
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_text(errors='replace').rpartition(')')[2].split()
        except OSError:  # the process has ended
            continue
        pid = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        # User and system time, of the process and of its finished children.
        ticks[pid] = sum(map(int, fields[11:15]))
    if process not in ticks:
        return None
    total, waiting = 0, [process]
    while waiting:
        pid = waiting.pop()
        total += ticks[pid]
        waiting += children.get(pid, [])
    return total / os.sysconf('SC_CLK_TCK')


def peak_memory_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts in bytes, others in kilobytes.
    return peak / (1e6 if platform.system() == 'Darwin' else 1e3)


SPANS, QUESTIONS, NLI = 'spans', 'questions', 'nli'
# Question answering runs twice: on the response, to see whether a question is valid,
# and on the knowledge, to answer it.
ON_RESPONSES, ON_KNOWLEDGE = 'answers in responses', 'answers in knowledge'
STAGES = (SPANS, QUESTIONS, ON_RESPONSES, ON_KNOWLEDGE, NLI)
# The largest difference allowed between a batch and one question at a time.
TOLERANCE = 0.0


def measure_batched(
    scorer: Q2Scorer, examples: Sequence[Example], rounds: int
) -> tuple[JsonObject, list[Q2Result]]:
    """
    Time Q2 in batches, ``rounds`` times, and one response at a time: the measurements,
    with the seconds a response and those of each stage, and the results.
    """
    models, settings = scorer.models, scorer.q2_settings
    q2(examples[:2], models, settings)
    stages = StageClock()
    watched = watch(models, stages, examples)

    def whole() -> list[Q2Result]:
        # In batches of the same size as the scorer's own.
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
    """Time Q2 one question at a time, as published: seconds a response, and results."""
    models, settings = scorer.models, scorer.q2_settings
    q2_one_at_a_time(examples[0], models, settings)
    seconds, results = timed(
        lambda: [q2_one_at_a_time(example, models, settings) for example in examples]
    )
    return seconds / len(examples), results


def as_published(preset: Preset) -> Preset:
    """Load the same models with transformers in fp32, as in the published code."""
    models = {
        name: replace(
            config, settings={**config.settings, 'engine': Engine.TRANSFORMERS}
        )
        for name, config in preset.models.items()
        if name
        in (Section.QUESTION_GENERATION, Section.QUESTION_ANSWERING, Section.NLI)
    }
    return replace(preset, models={**preset.models, **models})


def differences(first: Sequence[Q2Result], other: Sequence[Q2Result]) -> list[float]:
    """The absolute difference of two runs' values, one number for each response."""
    return [abs(a.value - b.value) for a, b in zip(first, other, strict=True)]


def describe_metric(measurements: JsonObject) -> str:
    """Format the result of :func:`measure_batched`, with the loops, as text."""
    batched, alone = measurements['batched'], measurements['one_response']
    lines = [
        f'{measurements["responses"]} responses, {measurements["questions"]} questions',
        f'  in batches              {batched["median"]:.3f} s a response '
        f'({batched["min"]:.3f} to {batched["max"]:.3f})',
    ]
    lines += [
        f'    {stage:<21} {measurements["stages"][stage]:.3f} s, '
        f'{percent(measurements["stage_share"][stage], 0)} of the stages'
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
    """Wrap the models, so that each adds its time to a clock, under :data:`STAGES`."""
    responses = {example.response for example in examples}

    def answer(pairs: Sequence[tuple[str, str]]) -> list[Span | None]:
        # A call asks only about responses, or only about knowledge.
        about_responses = all(text in responses for _, text in pairs)
        stage = ON_RESPONSES if about_responses else ON_KNOWLEDGE
        answers: list[Span | None] = clock.timed(stage, models.answerer.answer)(pairs)
        return answers

    generate = clock.timed(QUESTIONS, models.generator.generate)
    classify = clock.timed(NLI, models.nli.classify)
    stand_in: Any = SimpleNamespace
    return Q2Models(
        stand_in(settings=models.generator.settings, generate=generate),
        stand_in(settings=models.answerer.settings, answer=answer),
        stand_in(settings=models.nli.settings, classify=classify),
        clock.timed(SPANS, models.find_spans),
    )


def measure_reranking(agent: Any, turns: Sequence[tuple[str, str]]) -> JsonObject:
    """
    Time a GroundedRerankAgent's search, its scorer and, after the reply, its evidence:
    seconds a turn of each, and the median ratio of scoring to generating. The first
    turn is answered twice, to warm up.
    """

    def answer(message: JsonObject) -> Any:
        agent.observe(message)
        return agent.act()

    rank, times = agent.reranker.rank_batch, []
    for knowledge, text in [turns[0], *turns]:
        message = {'text': text, 'knowledge': knowledge, 'episode_done': True}
        clock = StageClock()
        agent.reranker.rank_batch = clock.timed('score', rank)
        agent.reset()
        whole, reply = timed(partial(answer, message))
        explained, _ = timed(partial(agent.explained, reply))
        score = clock.seconds['score']
        times.append((whole - score, score, explained, len(reply['rerank'])))
    del agent.reranker.rank_batch
    generate, scored, explain, distinct = zip(*times[1:], strict=True)
    return {
        'turns': len(turns),
        'distinct_candidates': fmean(distinct),
        'generate': spread(generate),
        'score': spread(scored),
        'explain': spread(explain),
        'score_over_generate': median(
            s / g for s, g in zip(scored, generate, strict=True)
        ),
    }


def describe_reranking(scorer: str, measurements: JsonObject) -> str:
    generate, score, explain = (
        measurements[n] for n in ('generate', 'score', 'explain')
    )
    return (
        f'Reranking {measurements["turns"]} turns by {scorer}, '
        f'{measurements["distinct_candidates"]:.1f} distinct candidates a turn\n'
        f'  to find candidates      {generate["median"]:.3f} s a turn\n'
        f'  to score them           {score["median"]:.3f} s a turn '
        f'({score["p95"]:.3f} at the 95th percentile), '
        f'{measurements["score_over_generate"]:.2f} of the time to find them\n'
        f'  to explain the shown    {explain["median"]:.3f} s a turn '
        f'({explain["p95"]:.3f} at the 95th percentile)'
    )
