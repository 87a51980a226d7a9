"""
``parlai_q2 filter``: keeps the turns of a task whose labels are grounded in their
knowledge, or those of a scored file. The scores are kept in the score cache, so a
stopped run resumes and another threshold needs no new scores.
"""

from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, islice
from pathlib import Path

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.cli import log
from parlai_q2.cli.file_command import (
    EngineName,
    add_scale_options,
    check_scale,
    engine_from_opt,
    make_later,
)
from parlai_q2.cli.knowledge_options import source_from_opt
from parlai_q2.cli.parser import given_file
from parlai_q2.cli.scorer_options import add_scorer_options, judge_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.filtering.judge import CHUNK, decide_batches, group_episodes
from parlai_q2.filtering.label_scoring import LabelJob, score_batches
from parlai_q2.filtering.scored import ScoredTurns
from parlai_q2.io.files import locate
from parlai_q2.json_values import JsonObject
from parlai_q2.parlai.filter_options import add_filter_options, policy_from_opt
from parlai_q2.parlai.filtered_files import Judge, check_places, write_filtered
from parlai_q2.parlai.task_episodes import add_num_examples, tasks_from_opt
from parlai_q2.scorers.base import DEFAULT_THRESHOLD
from parlai_q2.scorers.roles import Role


@register_script('filter', aliases=['q2_filter'])
class FilterScript(ParlaiScript):
    """Filter a task by the groundedness of its labels."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        parser = ParlaiParser(True, False, 'Keep the grounded turns of a task')
        group = parser.add_argument_group('Filtering a task')
        group.add_argument(
            '--outfile',
            help='file of conversations to write (.jsonl); dropped turns go to '
            '<name>.dropped.jsonl, the summary to <name>.summary.json and .txt',
        )
        group.add_argument(
            '--infile',
            help='instead of a task, a file or folder that parlai_q2 score or '
            'parlai_q2 rerank wrote, with its scores',
        )
        add_num_examples(group, 'filter')
        add_filter_options(parser)
        add_scorer_options(parser, Role.CHOOSE)
        add_scale_options(parser, CHUNK)
        return parser

    def run(self) -> JsonObject:
        opt = self.opt
        outfile = given_file(opt, 'outfile', 'kept.jsonl')
        # Errors in the options are raised before anything starts.
        policy_from_opt(opt, DEFAULT_THRESHOLD, Role.CHOOSE)
        size = check_scale(opt, has_cache=True)
        check_places(outfile, opt)
        if opt.get('infile'):
            check_alone(opt)
            return filter_scored(opt, outfile)
        return filter_tasks(opt, outfile, size)


def filter_tasks(opt: Opt, outfile: Path, size: int) -> JsonObject:
    """
    Score the labels of tasks, at least ``size`` in a call, and write the kept turns.
    """
    # Scorers come first, because they fail soonest for a wrong name.
    source, scorer = source_from_opt(opt), judge_from_opt(opt, Role.CHOOSE)
    tasks = tasks_from_opt(opt)
    problems = log.Problems('Not scored')
    policy = policy_from_opt(opt, scorer.threshold, Role.CHOOSE)
    judge, reuse = Judge.from_scorer(scorer), None
    job = LabelJob(lambda device: scorer)
    if opt.get('engine') == EngineName.RAY:
        # The score cache is on this machine, not with the actors.
        reuse = judge.reuse
        make_scorer = partial(judge_from_opt, role=Role.CHOOSE)
        job = LabelJob(make_later(make_scorer, {**opt, 'cache': False}))
    with engine_from_opt(opt, job) as engine:
        judge = replace(judge, signature=engine.signature)
        batches = group_episodes(chain.from_iterable(tasks), source, size)
        with closing(score_batches(batches, engine, reuse, problems.add)) as scored:
            return write_filtered(
                decide_batches(scored, policy),
                outfile,
                judge,
                policy,
                opt=opt,
                total=sum(map(len, tasks)),
            )


# The options that decide scores, which have no effect on a scored file.
SCORER_OPTIONS = ('choose', 'choose_preset', 'choose_calibration', 'preset', 'detector')


def check_alone(opt: Opt) -> None:
    """Raise ConfigError for options without effect on a file that is scored already."""
    explicit = opt.get('override') or {}
    options = {
        '-t': opt.get('task'),
        '--engine ray': opt.get('engine') == EngineName.RAY,
    }
    for name in ('knowledge_file', 'knowledge_delimiter', *SCORER_OPTIONS):
        value = explicit.get(name) if name in SCORER_OPTIONS else opt.get(name)
        options[f'--{name.replace("_", "-")}'] = value
    for name, value in options.items():
        if value:
            raise ConfigError(
                f'{name} has no effect with --infile, whose records have their '
                'knowledge and their scores. Leave one of them out.'
            )


def filter_scored(opt: Opt, outfile: Path) -> JsonObject:
    """Write the kept turns of a file that is scored already; return the summary."""
    problems = log.Problems('Left out')
    turns = ScoredTurns(locate(opt['infile']), problems.add)
    policy = policy_from_opt(opt, turns.threshold, Role.CHOOSE)
    judge = Judge(turns.scorer, turns.signature)
    judged, total = turns.judged(policy), turns.total
    if opt['num_examples'] >= 0:
        judged = islice(judged, opt['num_examples'])
        total = min(
            opt['num_examples'], opt['num_examples'] if total is None else total
        )
    return write_filtered(judged, outfile, judge, policy, opt=opt, total=total)
