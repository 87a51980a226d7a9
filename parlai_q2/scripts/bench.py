"""
``parlai_q2 bench``: measures how long Q2 and reranking take, all in one run.

It times Q2 in batches and one question at a time, and each stage of it; how the time
grows; how far it is from the least it could be; and what reranking adds to a turn.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.benchmark import describe
from parlai_q2.benchmark.clock import machine, peak_memory_mb
from parlai_q2.benchmark.floor import measure_floor
from parlai_q2.benchmark.growth import measure_growth
from parlai_q2.benchmark.metric import (
    TOLERANCE,
    Pair,
    differences,
    measure_batched,
    measure_loop,
)
from parlai_q2.benchmark.reranking import measure_reranking
from parlai_q2.benchmark.search import measure_search
from parlai_q2.benchmark.workers import measure_workers
from parlai_q2.errors import InputError, Q2Error, UnknownNameError
from parlai_q2.io.read import read_records
from parlai_q2.io.write import writable, write_text
from parlai_q2.models.loading import INT8
from parlai_q2.models.question_generation import CTRANSLATE2
from parlai_q2.options import split_names
from parlai_q2.parlai.scorer_options import (
    add_device_option,
    add_preset_option,
    scorer_device,
)
from parlai_q2.q2.metric import q2
from parlai_q2.scale.placement import usable_cores
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET

FLOAT32_PRESET, FAST_PRESET = 'mini_float32', 'mini_fast'
GROWING = ('consistency', 'q2')
RERANKERS = ('consistency', 'q2', 'grounded')
# What to measure; the loop takes by far the longest.
PARTS = ('metric', 'loop', 'workers', 'search', 'floor', 'growth', 'reranking')


@register_script('bench', aliases=['q2_bench'])
class BenchScript(ParlaiScript):
    """
    Time Q2 in batches and one question at a time, and reranking.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, False, 'Time scoring and reranking')
        group = parser.add_argument_group('Benchmark')
        group.add_argument(
            '--infile',
            type=str,
            default=None,
            help='file of records to score; default: the sample',
        )
        add_preset_option(group)
        group.add_argument(
            '--responses', type=int, default=30, help='responses to score'
        )
        group.add_argument(
            '--rounds', type=int, default=3, help='how many times to score the batch'
        )
        group.add_argument(
            '--loop-responses',
            type=int,
            default=30,
            help='responses to score one question at a time and one response at a '
            'time, out of --responses',
        )
        group.add_argument(
            '--workers',
            type=int,
            default=None,
            help='processes that score in bulk; default: one per core',
        )
        group.add_argument('--turns', type=int, default=10, help='turns to rerank')
        group.add_argument(
            '--parts',
            type='nonestr',
            default=','.join(PARTS),
            help='what to measure, separated by commas',
        )
        group.add_argument('--outfile', type=str, default='outputs/bench.json')
        add_device_option(group)
        return parser

    def run(self) -> dict[str, Any]:
        parts = split_names(self.opt['parts'])
        unknown = sorted(set(parts) - set(PARTS))
        if unknown:
            raise UnknownNameError('part of the benchmark', unknown[0], PARTS)
        outfile = writable(Path(self.opt['outfile']))
        pairs = self._pairs()[: self.opt['responses']]
        if len(pairs) < 2:
            raise InputError('A benchmark needs at least two responses.')
        scorer = self._scorer(self.opt['preset'])
        report: dict[str, Any] = {
            'signature': str(scorer.signature),
            'machine': machine(),
        }
        alone = pairs[: max(1, self.opt['loop_responses'])]
        apart = 0.0
        if {'metric', 'loop', 'floor'} & set(parts):
            metric, batched = measure_batched(
                scorer, pairs, self.opt['rounds'], len(alone)
            )
            report['metric'] = metric
            report['peak_memory_gb'] = round(peak_memory_mb() / 1000, 2)
            if 'loop' in parts:
                apart = self._loop(scorer, alone, metric, batched[: len(alone)])
            logging.info(describe.describe_metric(metric))
            logging.info(
                f'Peak memory of batched scoring: {report["peak_memory_gb"]} GB'
            )
        if 'workers' in parts:
            report['workers'] = self._workers(scorer, pairs, report.get('metric', {}))
        if 'search' in parts:
            found = measure_search(scorer, [response for _, response in alone])
            logging.info(describe.describe_search(found))
            report['search'] = found
        if 'floor' in parts and by_ctranslate2(scorer):
            logging.info(
                'CTranslate2 does not report its matrix products, so no floor is given.'
            )
        elif 'floor' in parts:
            models, settings = scorer.models, scorer.q2_settings
            found = measure_floor(
                lambda: q2(alone, models, settings),
                models.generator.settings.get('qg_arithmetic') == INT8,
            )
            batched_seconds = report['metric']['batched']['median']
            logging.info(describe.describe_floor(found, len(alone), batched_seconds))
            report['floor'] = found
        if 'growth' in parts:
            report['growth'] = {name: self._growth(name, pairs) for name in GROWING}
        if 'reranking' in parts and self.opt['turns'] > 0:
            report['reranking'] = {name: self._rerank(name) for name in RERANKERS}
        write_text(outfile, json.dumps(report, indent=1) + '\n')
        logging.info(f'Wrote {outfile}')
        if apart > TOLERANCE:
            raise Q2Error('The batched metric differs from the loop.')
        return report

    def _loop(
        self, scorer: Any, pairs: list[Pair], metric: dict[str, Any], batched: list[Any]
    ) -> float:
        preset, batch = self.opt['preset'], metric['batched']['median']
        seconds, looped = measure_loop(scorer, pairs)
        metric['loop'] = {preset: seconds}
        if by_ctranslate2(scorer):
            # Its int8 questions differ from those of generate.
            _, looped = measure_loop(scorer, pairs, published=False)
        metric['largest_difference'] = max(differences(batched, looped))
        if preset in (DEFAULT_PRESET, FAST_PRESET):
            # As published: the same weights in fp32.
            seconds, looped = measure_loop(self._scorer(FLOAT32_PRESET), pairs)
            metric['loop'][FLOAT32_PRESET] = seconds
            metric['mean_difference_to_float32'] = fmean(differences(batched, looped))
        metric['speed_up'] = {name: s / batch for name, s in metric['loop'].items()}
        return metric['largest_difference']

    def _workers(
        self, scorer: Any, pairs: list[Pair], metric: dict[str, Any]
    ) -> dict[str, Any]:
        found = measure_workers(
            self.opt['preset'],
            str(scorer.signature),
            pairs,
            self.opt['workers'] or usable_cores(),
            self.opt['rounds'],
        )
        logging.info(describe.describe_workers(found, metric.get('loop', {})))
        return found

    def _growth(self, name: str, pairs: list[Pair]) -> dict[str, Any]:
        scorer = load_scorer(name, self.opt['preset'], device=scorer_device(self.opt))
        found = measure_growth(scorer.score, pairs)
        logging.info(describe.describe_growth(name, found))
        return found

    def _scorer(self, preset: str) -> Any:
        return load_scorer('q2', preset, device=scorer_device(self.opt))

    def _pairs(self) -> list[Pair]:
        if self.opt['infile']:
            examples = [r.example for r in read_records(self.opt['infile'])]
            return [(e.knowledge, e.response) for e in examples if e is not None]
        return [(turn.knowledge, turn.response) for turn in sample()]

    def _rerank(self, scorer: str) -> dict[str, Any]:
        parser = ParlaiParser(True, True)
        agent = create_agent(
            parser.parse_kwargs(
                model=AGENT, scorer=scorer, preset=self.opt['preset'], loglevel='error'
            )
        )
        turns = [(turn.knowledge, turn.text) for turn in sample()[: self.opt['turns']]]
        found = measure_reranking(agent, turns)
        logging.info(describe.describe_reranking(scorer, found))
        return found


def by_ctranslate2(scorer: Any) -> bool:
    """
    Whether a scorer searches for its questions with CTranslate2.
    """
    return getattr(scorer.models.generator, 'search', None) == CTRANSLATE2


def sample() -> list[Any]:
    """
    The evaluation turns of the sample that ships.
    """
    from parlai_q2.tasks.grounded_sample.agents import SAMPLE, read_sample

    return [turn for turn in read_sample(SAMPLE) if turn.more['fold'] == 'eval']
