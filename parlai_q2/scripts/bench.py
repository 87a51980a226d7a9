"""
``parlai_q2 bench``: times Q2 in batches, by stage, and one question at a time; and what
reranking adds to a turn, which needs ParlAI. Where asked, also what a record of a large
file costs in one process and with Ray, what more candidates give, and what filtering by
a mutator costs: these parts are in the folder benchmarks of a checkout.
"""

import json
import sys
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from types import ModuleType
from typing import Any

import parlai_q2
from parlai_q2 import benchmark
from parlai_q2.cli import log
from parlai_q2.cli.commands import check_parlai
from parlai_q2.cli.scorer_options import (
    add_device_option,
    add_preset_option,
    limit_from_opt,
    scorer_device,
)
from parlai_q2.errors import InputError, Q2Error, UnknownNameError
from parlai_q2.io.write import writable, write_text
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options, split_names
from parlai_q2.presets import load_preset
from parlai_q2.scorers import load_scorer
from parlai_q2.turns import Example

RERANKERS = ('grounded_fast', 'grounded', 'q2')
# What is measured by default; the loop takes by far the longest.
PARTS = ('metric', 'loop', 'reranking')
# Only if asked for: modules of the folder benchmarks, which a checkout has.
BESIDE = ('scale', 'candidates', 'filtering')
TURNS = 10  # that are reranked


def add_options(parser: OptionParser) -> None:
    group = parser.add_argument_group('Benchmark')
    add_preset_option(group)
    group.add_argument('--responses', type=int, default=30, help='responses to score')
    group.add_argument(
        '--rounds', type=int, default=3, help='how many times to score the batch'
    )
    group.add_argument(
        '--parts',
        default=','.join(PARTS),
        help='comma-separated: metric, loop, reranking (needs ParlAI); scale: '
        'large files in one process and with Ray; candidates: how much '
        'more candidates help; filtering: the cost of a mutator',
    )
    group.add_argument(
        '--measure', default='precision', help='the scorer of the part scale'
    )
    group.add_argument(
        '--records',
        default='10000,100000',
        help='numbers of records of the files in the part scale',
    )
    group.add_argument(
        '--distinct',
        type=int,
        help='how many of these records differ; default: all. If set, the part '
        'also runs with a cache',
    )
    group.add_argument(
        '--ray-actors',
        type=int,
        default=2,
        help='actors of the part scale, with one core each',
    )
    group.add_argument(
        '--chunk-size', type=int, default=256, help='records per call of the scorer'
    )
    group.add_argument(
        '--outfile', default='outputs/bench.json', help='JSON file to write'
    )
    add_device_option(group)


def run(opt: Options) -> JsonObject:
    """Measure, print and write; return what was written."""
    parts = split_names(opt['parts'])
    part_names = (*PARTS, *BESIDE)
    unknown = sorted(set(parts) - set(part_names))
    if unknown:
        raise UnknownNameError('part of the benchmark', unknown[0], part_names)
    outfile = writable(Path(opt['outfile']))
    examples = [Example(f['knowledge'], f['response']) for f in sample()]
    examples = examples[: opt['responses']]
    if len(examples) < 2:
        raise InputError('A benchmark needs at least two responses.')
    limit_from_opt(opt)
    report: JsonObject = {'machine': benchmark.machine()}
    largest_difference = 0.0
    if {'metric', 'loop'} & set(parts):
        scorer: Any = load_scorer('q2', opt['preset'], device=scorer_device(opt))
        report['signature'] = str(scorer.signature)
        metric, batched = benchmark.measure_batched(scorer, examples, opt['rounds'])
        report['metric'] = metric
        report['peak_memory_gb'] = round(benchmark.peak_memory_mb() / 1000, 2)
        if 'loop' in parts:
            largest_difference = add_loops(metric, opt, scorer, examples, batched)
        log.show_result(benchmark.describe_metric(metric))
        log.info(f'Peak memory of batched scoring: {report["peak_memory_gb"]} GB')
    if 'reranking' in parts:
        report['reranking'] = {name: rerank(name, opt) for name in RERANKERS}
    for part in BESIDE:
        if part in parts:
            report[part] = benchmark_beside(part).run(opt, outfile)
    write_text(outfile, json.dumps(report, indent=1) + '\n')
    log.info(f'Wrote {outfile}')
    if largest_difference > benchmark.TOLERANCE:
        raise Q2Error('The batched metric differs from the loop.')
    return report


def add_loops(
    metric: JsonObject,
    opt: Options,
    scorer: Any,
    examples: list[Example],
    batched: list[Any],
) -> float:
    """
    Add the times of the loop of the published code, and of the same loop with
    transformers; return the largest difference between a value of the batch and of the
    loop.
    """
    _, looped = benchmark.measure_loop(scorer, examples)
    metric['largest_difference'] = max(benchmark.differences(batched, looped))
    preset = benchmark.as_published(load_preset(opt['preset']))
    published: Any = load_scorer('q2', preset, device=scorer_device(opt))
    seconds, looped = benchmark.measure_loop(published, examples)
    metric['mean_difference_to_loop'] = fmean(benchmark.differences(batched, looped))
    metric['loop'] = seconds
    metric['speed_up'] = seconds / metric['batched']['median']
    return float(metric['largest_difference'])


def rerank(scorer: str, opt: Options) -> JsonObject:
    """Time the shipped reply model's turns, reranked by a scorer."""
    check_parlai('Timing reranking')
    from parlai_q2.parlai import compat

    compat.apply()  # before ParlAI is imported
    from parlai.core.agents import create_agent
    from parlai.core.params import ParlaiParser

    from parlai_q2.agents.grounded_rerank import AGENT

    agent = create_agent(
        ParlaiParser(True, True).parse_kwargs(
            model=AGENT, choose=scorer, preset=opt['preset'], loglevel='error'
        )
    )
    turns = [(f['knowledge'], f['message']) for f in sample()[:TURNS]]
    timings = benchmark.measure_reranking(agent, turns)
    log.show_result(benchmark.describe_reranking(scorer, timings))
    return timings


def benchmark_beside(name: str) -> ModuleType:
    """A module of the folder ``benchmarks``, which only a checkout has."""
    root = Path(parlai_q2.__file__).resolve().parent.parent
    if not (root / 'benchmarks').is_dir():
        raise Q2Error(
            f'The part {name} of the benchmark needs a checkout of the project, with '
            f'its folder benchmarks. The parts {", ".join(PARTS)} do not.'
        )
    if str(root) not in sys.path:
        sys.path.append(str(root))
    return import_module(f'benchmarks.{name}')


def sample() -> list[JsonObject]:
    """The records of the evaluation turns of the sample that ships."""
    path = files('parlai_q2.tasks.grounded_sample') / 'sample.jsonl'
    lines = path.read_text(encoding='utf-8').splitlines()
    return [fields for fields in map(json.loads, lines) if fields['fold'] == 'eval']
