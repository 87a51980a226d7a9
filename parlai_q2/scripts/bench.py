"""
``parlai_q2 bench``: batched Q2 against the one-question-at-a-time loop, in one run.
"""

import json
import platform
import resource
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Callable, Sequence

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.files.write import write_text
from parlai_q2.parlai_support.scorer_options import scorer_device
from parlai_q2.q2.metric import Q2Models, Q2Result, q2
from parlai_q2.q2.one_at_a_time import q2_one_at_a_time
from parlai_q2.scorers import load_scorer

# Values of the two ways may differ by no more than this (floating-point padding
# effects).
TOLERANCE = 1e-4
STAGES = ('spans', 'question generation', 'question answering', 'nli')
Pair = tuple[str, str]


@register_script('bench', aliases=['q2_bench'])
class BenchScript(ParlaiScript):
    """
    Time batched Q2 against the one-question-at-a-time loop.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, False, 'Time Q2 in batches and one at a time')
        group = parser.add_argument_group('Benchmark')
        group.add_argument(
            '--infile', default=None, help='records; default: the sample'
        )
        group.add_argument('--preset', default='mini', help='the models')
        group.add_argument(
            '--responses', type=int, default=30, help='responses to score'
        )
        group.add_argument('--rounds', type=int, default=3, help='of batched scoring')
        group.add_argument('--outfile', default='outputs/bench.json')
        group.add_argument(
            '--scorer-device', type=str, default=None, help='torch device'
        )
        return parser

    def run(self) -> dict[str, Any]:
        pairs = self._pairs()[: self.opt['responses']]
        scorer = load_scorer('q2', self.opt['preset'], device=scorer_device(self.opt))
        models, settings = scorer.models, scorer.q2_settings  # type: ignore[attr-defined]
        logging.info(f'{len(pairs)} responses; loading the models and warming up.')
        q2(pairs[:2], models, settings)
        stages = StageClock()
        times: list[float] = []
        batched: list[Q2Result] = []
        for _ in range(self.opt['rounds']):
            seconds, batched = timed(lambda: q2(pairs, stages.watch(models), settings))
            times.append(seconds)
        logging.info(f'Batched: {times}. Now the loop.')
        loop_seconds, looped = timed(
            lambda: [q2_one_at_a_time(pair, models, settings) for pair in pairs]
        )
        alone = [timed(partial(q2, [pair], models, settings))[0] for pair in pairs]
        report: dict[str, Any] = {
            'signature': str(scorer.signature),
            'machine': machine(),
            'responses': len(pairs),
            'questions': sum(len(r.verdicts) for r in looped),
            'loop_seconds_per_response': loop_seconds / len(pairs),
            'batched_seconds_per_response': [t / len(pairs) for t in times],
            'speed_up': loop_seconds / median(times),
            'single_response_seconds': {
                'median': median(alone),
                'p95': sorted(alone)[int(0.95 * (len(alone) - 1))],
            },
            'stage_share': stages.shares(),
            'largest_difference': largest_difference(looped, batched),
            'peak_memory_gb': peak_memory_gb(),
        }
        write_text(Path(self.opt['outfile']), json.dumps(report, indent=1) + '\n')
        logging.info(summary(report))
        if report['largest_difference'] > TOLERANCE:
            raise SystemExit('The batched metric differs from the loop.')
        return report

    def _pairs(self) -> list[Pair]:
        from parlai_q2.files.read import read_records

        Path(self.opt['outfile']).parent.mkdir(parents=True, exist_ok=True)
        if self.opt['infile']:
            examples = [r.example for r in read_records(self.opt['infile'])]
            return [(e.knowledge, e.response) for e in examples if e is not None]
        from parlai_q2.tasks.grounded_sample.agents import annotated_pairs

        return annotated_pairs()


class StageClock:
    """
    Adds up the time of each stage of the metric.
    """

    def __init__(self):
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def watch(self, models: Q2Models) -> Q2Models:
        """
        The same models, timed.
        """
        generator: Any = _Timed(
            models.generator, 'generate', self, 'question generation'
        )
        answerer: Any = _Timed(models.answerer, 'answer', self, 'question answering')
        nli: Any = _Timed(models.nli, 'classify', self, 'nli')
        find_spans = self.timed('spans', models.find_spans)
        return Q2Models(generator, answerer, nli, find_spans)

    def timed(self, stage: str, function: Callable) -> Callable:
        """
        A function whose time is added to a stage.
        """

        def run(*args: Any) -> Any:
            seconds, result = timed(lambda: function(*args))
            self.seconds[stage] += seconds
            return result

        return run

    def shares(self) -> dict[str, float]:
        """
        Each stage's share of the stages' time; they sum to 1.
        """
        total = sum(self.seconds.values()) or 1.0
        return {name: round(s / total, 3) for name, s in self.seconds.items()}


class _Timed:
    def __init__(self, backend: Any, method: str, clock: StageClock, stage: str):
        self.settings = backend.settings
        setattr(self, method, clock.timed(stage, getattr(backend, method)))


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """
    Seconds that a call took, and what it gave.
    """
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def largest_difference(one: Sequence[Q2Result], other: Sequence[Q2Result]) -> float:
    """
    The largest difference of two runs' values over all responses.
    """
    return max(
        (abs(a.value - b.value) for a, b in zip(one, other, strict=True)), default=0.0
    )


def peak_memory_gb() -> float:
    """
    The most memory this process has held, in GB.
    """
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(kilobytes / 1e6, 2)


def machine() -> dict[str, Any]:
    """
    What the timings were taken on.
    """
    import torch

    return {
        'processor': platform.processor() or platform.machine(),
        'threads': torch.get_num_threads(),
        'torch': torch.__version__,
        'cuda': torch.cuda.is_available(),
    }


def summary(report: dict[str, Any]) -> str:
    """
    The report for people.
    """
    batched = median(report['batched_seconds_per_response'])
    single = report['single_response_seconds']
    stages = ', '.join(f'{k} {v:.0%}' for k, v in report['stage_share'].items())
    return '\n'.join(
        [
            f'{report["responses"]} responses, {report["questions"]} questions',
            f'one question at a time: {report["loop_seconds_per_response"]:.2f} s a '
            'response',
            f'batched:                {batched:.2f} s a response, '
            f'{report["speed_up"]:.1f} times faster',
            f'a response alone:       {single["median"]:.2f} s (median), '
            f'{single["p95"]:.2f} s (95th percentile)',
            f'stages: {stages}',
            f'largest difference of a value: {report["largest_difference"]:.1e}',
            f'peak memory: {report["peak_memory_gb"]} GB',
        ]
    )
