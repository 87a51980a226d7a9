"""
``parlai_q2 distill``: best-of-n distillation by rejection sampling. The reranking agent
replies to every turn of a task, and the replies that score above the threshold become
references. The replies are kept beside the output, to resume a stopped run, and to try
another threshold.
"""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path

import parlai.utils.logging as logging
from parlai.core.agents import create_agent
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.agents.grounded_rerank import AGENT
from parlai_q2.cli.knowledge_options import source_from_opt
from parlai_q2.cli.log import Progress
from parlai_q2.cli.parser import given_file
from parlai_q2.cli.scorer_options import (
    add_scorer_options,
    judge_from_opt,
    reranker_from_opt,
)
from parlai_q2.filtering.conversation import LEFT_OUT
from parlai_q2.filtering.judge import Fate
from parlai_q2.io.formats import json_lines, open_text
from parlai_q2.io.write import ResumableWriter, read_summary
from parlai_q2.json_values import JsonObject
from parlai_q2.options import list_options
from parlai_q2.parlai.distillation import judge_replies, replies, reply_record
from parlai_q2.parlai.filter_options import add_filter_options, policy_from_opt
from parlai_q2.parlai.filtered_files import Judge, check_places, write_filtered
from parlai_q2.parlai.task_episodes import (
    TaskEpisodes,
    add_num_examples,
    digest,
    tasks_from_opt,
)
from parlai_q2.runs.rerank_job import sign_choice
from parlai_q2.scorers.roles import MEASURE_OF_CHOSEN, Role

DEFAULT_BATCHSIZE = 8
# ParlAI's options for places and batch sizes, which do not change replies. After a
# change of any other option, all replies are made again: it may waste time, but is
# safe.
HOST_OPTIONS = frozenset(
    'starttime override parlai_home batchsize loglevel verbose is_debug world_logs '
    'report_filename'.split()
)


@register_script('distill', aliases=['q2_distill'])
class DistillScript(ParlaiScript):
    """Make a training set of a reranking model's grounded choices."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        parser = ParlaiParser(True, True, "Distill a reranking model's choices")
        add_num_examples(parser.add_argument_group('Distilling a model'), 'reply to')
        add_judging_options(parser)
        # Evidence is not needed for replies that become references.
        parser.set_defaults(model=AGENT, batchsize=DEFAULT_BATCHSIZE, explain='none')
        return parser

    def run(self) -> JsonObject:
        opt = self.opt
        outfile = given_file(opt, 'outfile', 'best.jsonl')
        check_places(outfile, opt)
        # With -mf alone, ParlAI would use the generator itself.
        opt['override'] = {'model': opt['model'], **(opt.get('override') or {})}
        # The digest comes before the tasks are loaded for replies, so that a large task
        # is held in memory only once.
        data = digest(chain.from_iterable(tasks_from_opt(opt)), LEFT_OUT)
        tasks = tasks_from_opt(opt)
        scorer = judge_from_opt(opt, Role.MEASURE, MEASURE_OF_CHOSEN)
        policy = policy_from_opt(opt, scorer.threshold, Role.MEASURE)
        total = sum(map(len, tasks))
        path = outfile.with_suffix('.replies.jsonl')
        make_replies(opt, tasks, total, path, data)
        judged = judge_replies(
            chain.from_iterable(tasks_from_opt(opt)),
            read_replies(path),
            scorer,
            policy,
            source_from_opt(opt),
        )
        judge = Judge.from_scorer(scorer)
        return write_filtered(judged, outfile, judge, policy, opt=opt, total=total)


def add_judging_options(parser: ParlaiParser) -> None:
    """Add the options that decide which replies are kept."""
    parser.add_argument(
        '--outfile',
        help='file of conversations to write (.jsonl); the files of filter go '
        'beside it, and the replies to <name>.replies.jsonl',
    )
    add_filter_options(parser, default=Fate.DROP)
    add_scorer_options(parser, Role.MEASURE, default=MEASURE_OF_CHOSEN)


@lru_cache(maxsize=1)
def after_the_replies() -> frozenset[str]:
    """The names of the options that do not change replies."""
    parser = ParlaiParser(False, False)
    before = {action.dest for action in list_options(parser)}
    add_judging_options(parser)
    options = {action.dest for action in list_options(parser)} - before
    # The options for knowledge matter for replies, too.
    knowledge = {name for name in options if name.startswith('knowledge')}
    return frozenset(options - knowledge) | HOST_OPTIONS


def make_replies(
    opt: Opt, tasks: Sequence[TaskEpisodes], total: int, path: Path, data: str
) -> None:
    """
    Let the model reply, a line of ``replies`` for each episode, resuming a stopped run.
    ``data`` is the digest of the tasks.
    """
    run = {**describe_run(opt), 'data': data}
    if read_summary(path) == run:
        logging.info(
            f'Reusing the replies in {path}, from the same data, model and options.'
        )
        return
    writer = ResumableWriter(path, run)
    if writer.started_over or (path.exists() and not writer.done):
        logging.info(
            f'{path} has other data or options, so all replies are generated again.'
        )
    try:
        episodes = islice(chain.from_iterable(tasks), writer.done, None)
        count = sum(len(line['replies']) for line in writer.lines())
        if count:
            logging.info(f'Continuing after the first {count} replies.')
        agent = create_agent(opt)
        with Progress('replies', total, 'turns', count) as bar:
            for episode in replies(agent, episodes, opt.get('batchsize') or 1):
                writer.write([{'replies': [reply_record(reply) for reply in episode]}])
                bar.update(len(episode))
    except BaseException:
        writer.close()
        raise
    writer.finish(run)


def read_replies(path: Path) -> Iterator[list[JsonObject]]:
    with open_text(path) as stream:
        for _, line, _, *_ in json_lines(stream):
            yield line['replies']


def describe_run(opt: Opt) -> JsonObject:
    """
    Describe everything that decides replies: the options, the files that they name, and
    the choice.
    """
    options = {k: v for k, v in opt.items() if k not in after_the_replies()}
    run = {
        'options': options,
        'files': {k: state for k, v in options.items() if (state := file_state(v))},
        'chosen_by': str(sign_choice(reranker_from_opt(opt), '')),
    }
    plain_run: JsonObject = json.loads(json.dumps(run, default=str))
    return plain_run


def file_state(value: object) -> tuple[int, int] | None:
    """Size and modification time of the file that an option names, if any."""
    if not isinstance(value, str) or not value:
        return None
    try:
        state = os.stat(value)
    except (OSError, ValueError):
        return None
    return (state.st_size, state.st_mtime_ns) if stat.S_ISREG(state.st_mode) else None
