"""
``parlai_q2 bench``: how long Q2 takes, in batches against one question at a time, and
what reranking adds to a turn. All in one run, on one machine.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.benchmark.clock import machine, peak_memory_gb
from parlai_q2.benchmark.metric import (
    TOLERANCE,
    Pair,
    differences,
    measure_batched,
    measure_loop,
)
from parlai_q2.benchmark.reranking import measure_reranking
from parlai_q2.errors import InputError, Q2Error
from parlai_q2.files.read import read_records
from parlai_q2.files.write import write_text
from parlai_q2.parlai_support.scorer_options import scorer_device
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET

AGENT = 'parlai_q2.agents.grounded_rerank.grounded_rerank:GroundedRerankAgent'
FLOAT32_PRESET = 'mini_float32'
RERANKERS = ('consistency', 'q2')


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
            '--infile', type=str, default=None, help='records; default: the sample'
        )
        group.add_argument('--preset', type=str, default='mini', help='the models')
        group.add_argument('--responses', type=int, default=30, help='to score')
        group.add_argument(
            '--rounds', type=int, default=3, help='how often the batch is scored'
        )
        group.add_argument(
            '--turns', type=int, default=10, help='to rerank; 0 leaves it out'
        )
        group.add_argument('--outfile', type=str, default='outputs/bench.json')
        group.add_argument(
            '--scorer-device', type=str, default=None, help='torch device'
        )
        return parser

    def run(self) -> dict[str, Any]:
        preset = self.opt['preset']
        pairs = self._pairs()[: self.opt['responses']]
        if len(pairs) < 2:
            raise InputError('A benchmark needs at least two responses.')
        scorer = self._scorer(preset)
        metric, batched = measure_batched(scorer, pairs, self.opt['rounds'])
        memory = peak_memory_gb()
        seconds, looped = measure_loop(scorer, pairs)
        apart = max(differences(batched, looped))
        metric['loop'] = {preset: seconds}
        metric['speed_up'] = {preset: seconds / metric['batched']['median']}
        metric['largest_difference'] = apart
        if preset == DEFAULT_PRESET:
            # As published: the same weights, computed in fp32.
            seconds, looped = measure_loop(self._scorer(FLOAT32_PRESET), pairs)
            metric['loop'][FLOAT32_PRESET] = seconds
            metric['speed_up'][FLOAT32_PRESET] = seconds / metric['batched']['median']
            metric['mean_difference_to_float32'] = fmean(differences(batched, looped))
        report: dict[str, Any] = {
            'signature': str(scorer.signature),
            'machine': machine(),
            'metric': metric,
            'peak_memory_gb': memory,
        }
        logging.info(describe_metric(metric))
        logging.info(f'Peak memory of batched scoring: {memory} GB')
        if self.opt['turns'] > 0:
            report['reranking'] = {name: self._rerank(name) for name in RERANKERS}
        outfile = Path(self.opt['outfile'])
        outfile.parent.mkdir(parents=True, exist_ok=True)
        write_text(outfile, json.dumps(report, indent=1) + '\n')
        logging.info(f'Wrote {outfile}')
        if apart > TOLERANCE:
            raise Q2Error('The batched metric differs from the loop.')
        return report

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
        logging.info(describe_reranking(scorer, found))
        return found


def sample() -> list[Any]:
    """
    The evaluation turns of the sample that ships.
    """
    from parlai_q2.tasks.grounded_sample.agents import SAMPLE, read_sample

    return [turn for turn in read_sample(SAMPLE) if turn.more['fold'] == 'eval']


def describe_metric(found: dict[str, Any]) -> str:
    """
    The metric's figures for people.
    """
    batched, alone = found['batched'], found['one_response']
    stages = ', '.join(f'{k} {v:.0%}' for k, v in found['stage_share'].items())
    lines = [
        f'{found["responses"]} responses, {found["questions"]} questions',
        f'  in batches              {batched["median"]:.3f} s a response '
        f'({batched["min"]:.3f} to {batched["max"]:.3f})',
        f'  one response alone      {alone["median"]:.3f} s, '
        f'{alone["p95"]:.3f} s at the 95th percentile',
        f'  stages                  {stages}',
    ]
    for preset, seconds in found['loop'].items():
        lines.append(
            f'  one question at a time  {seconds:.3f} s a response ({preset}): '
            f'{found["speed_up"][preset]:.1f} times as long'
        )
    lines.append(f'  largest difference      {found["largest_difference"]:.1e}')
    if 'mean_difference_to_float32' in found:
        mean = found['mean_difference_to_float32']
        lines.append(f'  mean difference to fp32 {mean:.3f}')
    return '\n'.join(lines)


def describe_reranking(scorer: str, found: dict[str, Any]) -> str:
    """
    The figures of one reranking scorer for people.
    """
    generate, score = found['generate'], found['score']
    return (
        f'Reranking {found["turns"]} turns by {scorer}, '
        f'{found["distinct_candidates"]:.1f} distinct candidates a turn\n'
        f'  to find candidates      {generate["median"]:.3f} s a turn\n'
        f'  to score them           {score["median"]:.3f} s a turn, '
        f'{found["score_over_generate"]:.2f} of the time to find them'
    )
