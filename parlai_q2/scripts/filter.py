"""
``parlai_q2 filter``: keeps the turns of a task whose labels are grounded in their
knowledge. Scores go through the score cache, so a run that was stopped goes on where it
was, and another threshold costs no new scores.
"""

from itertools import chain
from typing import Any

from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script

from parlai_q2.cli.files import given_file
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.filtering.judge import judge_episodes
from parlai_q2.parlai.filter_options import (
    add_filter_options,
    judge_from_opt,
    policy_from_opt,
)
from parlai_q2.parlai.filtered_files import write_filtered
from parlai_q2.parlai.knowledge_options import source_from_opt
from parlai_q2.parlai.task_episodes import add_num_examples, tasks_from_opt
from parlai_q2.scorers.roles import Role

# A data set is judged by the published metric.
JUDGE = 'q2'


@register_script('filter', aliases=['q2_filter'])
class FilterScript(ParlaiScript):
    """Filter a task by the groundedness of its labels."""

    @classmethod
    def setup_args(cls):
        parser = ParlaiParser(True, False, 'Keep the grounded turns of a task')
        group = parser.add_argument_group('Filtering a task')
        group.add_argument(
            '--outfile',
            help='file of conversations to write (.jsonl); dropped turns go to '
            '<name>.dropped.jsonl, the summary to <name>.summary.json and .txt',
        )
        add_num_examples(group, 'go over')
        add_filter_options(parser)
        add_scorer_options(parser, Role.CHOOSE, default=JUDGE)
        return parser

    def run(self) -> dict[str, Any]:
        opt = self.opt
        scorer = judge_from_opt(opt, Role.CHOOSE, JUDGE)
        outfile = given_file(opt, 'outfile', 'kept.jsonl')
        tasks = tasks_from_opt(opt)
        policy = policy_from_opt(opt, scorer, Role.CHOOSE)
        episodes = chain.from_iterable(tasks)
        judged = judge_episodes(episodes, scorer, policy, source_from_opt(opt))
        total = sum(map(len, tasks))
        return write_filtered(judged, outfile, scorer, policy, opt, total)
