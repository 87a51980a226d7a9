"""
``parlai_q2 bench_scale``: measures how much of the time of ``score`` and ``filter`` is
spent in the model, and how much memory they hold on short and on long files.
"""

import json
import tempfile
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, Callable

import parlai.utils.logging as logging
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.benchmark import memory, shares, throughput
from parlai_q2.benchmark.clock import machine
from parlai_q2.cache import CachedScorer, ScoreCache
from parlai_q2.errors import ConfigError, InputError, UnknownNameError
from parlai_q2.io.read import read_records
from parlai_q2.io.write import writable, write_text
from parlai_q2.options import split_names
from parlai_q2.parlai.scorer_options import (
    add_device_option,
    add_preset_option,
    scorer_device,
)
from parlai_q2.scorers import load_scorer
from parlai_q2.scorers.base import Scorer
from parlai_q2.scripts.filter import FilterScript, filter_task
from parlai_q2.scripts.score import score_file

DETECTOR = 'consistency'
TASK = 'parlai_q2.tasks.grounded_file.agents'
# Turns in each conversation that is filtered.
TURNS = 10
WARM_UP = 64


@register_script('bench_scale', aliases=['q2_bench_scale'])
class BenchScaleScript(ParlaiScript):
    """
    Time scoring and filtering of files against their model alone; weigh both.
    """

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(
            True, False, 'Measure the time and memory that scoring at scale takes'
        )
        group = parser.add_argument_group('Benchmark')
        group.add_argument(
            '--pairs',
            type=int,
            default=10_000,
            help='pairs to score and to filter; 0: none',
        )
        group.add_argument(
            '--turn',
            type=int,
            default=throughput.TURN,
            help='pairs per turn, as the pipeline and its model alone take turns',
        )
        group.add_argument(
            '--pipelines',
            type='nonestr',
            default=','.join(PIPELINES),
            help='pipelines to measure, separated by commas',
        )
        group.add_argument(
            '--memory',
            type='nonestr',
            default='1000,100000',
            help='sizes of a short and a long file, in records, separated by a comma; '
            'none: do not measure memory',
        )
        group.add_argument(
            '--infile',
            type=str,
            default=None,
            help='file of records with the pairs; default: each knowledge of the '
            'sample with each of its responses',
        )
        add_preset_option(group)
        add_device_option(group)
        group.add_argument('--outfile', type=str, default='outputs/bench_scale.json')
        return parser

    def run(self) -> dict[str, Any]:
        outfile = writable(Path(self.opt['outfile']))
        report: dict[str, Any] = {'machine': machine()}
        if self.opt['pairs'] > 0:
            scorer = load_scorer(
                DETECTOR, self.opt['preset'], device=scorer_device(self.opt)
            )
            report['signature'] = str(scorer.signature)
            report['throughput'] = self._throughput(scorer)
            logging.info(shares.describe(report['throughput']))
        if self.opt['memory']:
            report['memory'] = memory.measure(*sizes(self.opt['memory']))
            logging.info(memory.describe(report['memory']))
        write_text(outfile, json.dumps(report, indent=1) + '\n')
        logging.info(f'Wrote {outfile}')
        return report

    def _throughput(self, scorer: Any) -> dict[str, Any]:
        chosen = split_names(self.opt['pipelines'])
        unknown = sorted(set(chosen) - set(PIPELINES))
        if unknown:
            raise UnknownNameError('pipeline', unknown[0], PIPELINES)
        records = self._records()
        found = {}
        for name in chosen:
            turns = throughput.InTurns(scorer, self.opt['turn'])
            throughput.model_alone(
                scorer, [example for _, example in records[:WARM_UP]]
            )
            with tempfile.TemporaryDirectory() as folder:
                run = PIPELINES[name](Path(folder), [r for r, _ in records], turns)
                turns.start()
                run()
                turns.finish()
            found[name] = shares.compare(turns.turns, turns.differing)
        return found

    def _records(self) -> list[tuple[dict[str, Any], Any]]:
        count = self.opt['pairs']
        with tempfile.TemporaryDirectory() as folder:
            infile = Path(self.opt['infile'] or write_records(folder, sample_pairs()))
            by_text = {
                (r.example.knowledge, r.example.response): (r.fields, r.example)
                for r in read_records(infile)
                if r.example is not None
            }
        if len(by_text) < count:
            raise InputError(
                f'There are {len(by_text):,} different pairs, but --pairs asks '
                f'for {count:,}. Give an --infile with more, or a smaller --pairs.'
            )
        return list(by_text.values())[:count]


def sizes(given: str) -> tuple[int, int]:
    """
    The two sizes of ``--memory``.

    :raises ConfigError: when they are not two numbers, the smaller first.
    """
    try:
        small, large = map(int, given.split(','))
    except ValueError:
        small, large = 0, 0
    if not 0 < small < large:
        raise ConfigError(f'--memory takes two sizes such as 1000,100000, not {given}.')
    return small, large


def sample_pairs() -> list[tuple[str, str]]:
    """
    Each knowledge of the sample that ships, paired with each of the sample's responses,
    in a seeded order.
    """
    from parlai_q2.tasks.grounded_sample.agents import SAMPLE, read_sample

    turns = read_sample(SAMPLE)
    knowledge = dict.fromkeys(turn.knowledge for turn in turns)
    pairs = list(product(knowledge, dict.fromkeys(turn.response for turn in turns)))
    Random(0).shuffle(pairs)
    return pairs


def write_records(folder: Any, pairs: list[tuple[str, str]]) -> Path:
    """
    Write pairs as a file of records.
    """
    path = Path(folder) / 'pairs.jsonl'
    with open(path, 'w', encoding='utf-8') as stream:
        for n, (knowledge, response) in enumerate(pairs):
            fields = {'id': n, 'knowledge': knowledge, 'response': response}
            stream.write(json.dumps(fields) + '\n')
    return path


Pipeline = Callable[[Path, list[dict[str, Any]], Scorer], Callable[[], Any]]


def score(folder: Path, records: list[dict[str, Any]], scorer: Scorer) -> Any:
    """
    ``parlai_q2 score``, ready to run.
    """
    infile = folder / 'in.jsonl'
    with open(infile, 'w', encoding='utf-8') as stream:
        stream.writelines(json.dumps(fields) + '\n' for fields in records)
    return lambda: score_file(infile, folder / 'out.jsonl', scorer)


def score_cached(folder: Path, records: list[dict[str, Any]], scorer: Scorer) -> Any:
    """
    :func:`score` with a score cache that has none of the pairs.
    """
    store = ScoreCache(folder / 'scores.sqlite')
    return score(folder, records, CachedScorer(scorer, store))


def filter_(folder: Path, records: list[dict[str, Any]], scorer: Scorer) -> Any:
    """
    ``parlai_q2 filter`` on conversations, ready to run, with such a cache.
    """
    task = memory.write_conversations(folder / 'task.jsonl', iter(records), TURNS)
    store = ScoreCache(folder / 'scores.sqlite')
    opt = FilterScript.setup_args().parse_kwargs(
        task=TASK,
        jsonfile_datapath=str(task),
        datatype='valid:stream',
        outfile=str(folder / 'kept.jsonl'),
    )
    return lambda: filter_task(opt, CachedScorer(scorer, store))


PIPELINES: dict[str, Pipeline] = {
    'score': score,
    'score_cached': score_cached,
    'filter': filter_,
}
