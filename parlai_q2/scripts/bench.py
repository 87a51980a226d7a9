"""
``parlai_q2 bench``: times Q2 in batches, by stage, and one question at a time; and what
reranking adds to a turn, which needs ParlAI. On request, also the cost of a record of a
large file in one process and with Ray, and the effect of more candidates.
"""

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from parlai_q2.bench import candidates, measuring, scale
from parlai_q2.bench.measuring import sample
from parlai_q2.cli import log
from parlai_q2.cli.commands import check_parlai
from parlai_q2.cli.scorer_options import (
    add_device_option,
    add_preset_option,
    limit_from_opt,
    scorer_device,
)
from parlai_q2.errors import ConfigError, InputError, Q2Error, UnknownNameError
from parlai_q2.io.write import writable, write_text
from parlai_q2.json_values import JsonObject
from parlai_q2.options import OptionParser, Options, split_names
from parlai_q2.presets import load_preset
from parlai_q2.scorers import load_scorer
from parlai_q2.turns import Example

RERANKERS = ('grounded_fast', 'grounded', 'q2')
# The default parts; the loop takes by far the longest.
PARTS = ('metric', 'loop', 'reranking')
# Parts on request only.
FURTHER = {'scale': scale.run, 'candidates': candidates.run}
TURNS = 10  # turns to rerank


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
        'more candidates help',
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
    """Measure, print and write; return the written measurements."""
    parts = split_names(opt['parts'])
    part_names = (*PARTS, *FURTHER)
    unknown = sorted(set(parts) - set(part_names))
    if unknown:
        raise UnknownNameError('part of the benchmark', unknown[0], part_names)
    outfile = writable(Path(opt['outfile']))
    examples = [Example(f['knowledge'], f['response']) for f in sample()]
    examples = examples[: opt['responses']]
    if len(examples) < 2:
        raise InputError('A benchmark needs at least two responses.')
    if opt['rounds'] < 1:
        raise ConfigError(f'--rounds must be at least 1, not {opt["rounds"]}.')
    limit_from_opt(opt)
    report: JsonObject = {'machine': measuring.machine()}
    largest_difference = 0.0
    if {'metric', 'loop'} & set(parts):
        scorer: Any = load_scorer('q2', opt['preset'], device=scorer_device(opt))
        report['signature'] = str(scorer.signature)
        metric, batched = measuring.measure_batched(scorer, examples, opt['rounds'])
        report['metric'] = metric
        report['peak_memory_gb'] = round(measuring.peak_memory_mb() / 1000, 2)
        if 'loop' in parts:
            largest_difference = add_loops(metric, opt, scorer, examples, batched)
        log.show_result(measuring.describe_metric(metric))
        log.info(f'Peak memory of batched scoring: {report["peak_memory_gb"]} GB')
    if 'reranking' in parts:
        report['reranking'] = {name: rerank(name, opt) for name in RERANKERS}
    for part, measure in FURTHER.items():
        if part in parts:
            report[part] = measure(opt, outfile)
    write_text(outfile, json.dumps(report, indent=1) + '\n')
    log.info(f'Wrote {outfile}')
    if largest_difference > measuring.TOLERANCE:
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
    _, looped = measuring.measure_loop(scorer, examples)
    metric['largest_difference'] = max(measuring.differences(batched, looped))
    preset = measuring.as_published(load_preset(opt['preset']))
    published: Any = load_scorer('q2', preset, device=scorer_device(opt))
    seconds, looped = measuring.measure_loop(published, examples)
    metric['mean_difference_to_loop'] = fmean(measuring.differences(batched, looped))
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
    timings = measuring.measure_reranking(agent, turns)
    log.show_result(measuring.describe_reranking(scorer, timings))
    return timings
