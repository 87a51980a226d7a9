"""Times filtering by a mutator against ``parlai_q2 filter``, on the same turns."""

import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from parlai_q2.cli import log
from parlai_q2.cli.commands import check_parlai
from parlai_q2.filtering.judge import judge_episodes
from parlai_q2.scorers.roles import Role

TASK = 'parlai_q2.tasks.grounded_sample.agents:AnnotatedTeacher:all'
MUTATOR = 'q2_filter'


def measure_filtering(rounds: int, preset: str) -> dict[str, Any]:
    """
    Go over all turns of the sample in both ways, in turns, without the score cache: the
    seconds of each round, and the median ratio of a mutator's time to the filter's.
    """
    check_parlai('Timing a mutator')
    from parlai_q2.parlai import compat

    compat.apply()  # before ParlAI is imported
    from parlai.core.opt import Opt
    from parlai.core.params import ParlaiParser

    from parlai_q2.parlai.filtered_files import policy_from_opt
    from parlai_q2.parlai.mutators import mutator_scorer
    from parlai_q2.parlai.task_episodes import TaskEpisodes

    opt = ParlaiParser(True, True).parse_kwargs(
        task=TASK, datatype='train:evalmode', mutators=MUTATOR, preset=preset,
        cache=False, loglevel='error',
    )  # fmt: skip
    opt['task'] = TASK
    plain = Opt({**opt, 'mutators': None})
    scorer = mutator_scorer(opt)
    policy = policy_from_opt(opt, scorer.threshold, Role.CHOOSE)
    episodes = list(TaskEpisodes(plain))
    seconds_by_way: dict[str, list[float]] = {'filter': [], 'mutator': []}
    # The first round warms up.
    for _ in range(rounds + 1):
        begun = time.perf_counter()
        judged = list(judge_episodes(TaskEpisodes(plain), scorer, policy))
        filtered = time.perf_counter()
        kept_count = sum(map(len, TaskEpisodes(opt)))
        seconds_by_way['filter'].append(filtered - begun)
        seconds_by_way['mutator'].append(time.perf_counter() - filtered)
    assert kept_count == sum(turn.decision.is_kept for e in judged for turn in e)
    times = {name: seconds[1:] for name, seconds in seconds_by_way.items()}
    ratios = [m / f for f, m in zip(times['filter'], times['mutator'], strict=True)]
    return {
        'turns': sum(map(len, episodes)),
        'episodes': len(episodes),
        **times,
        'ratio': median(ratios),
    }


def describe_filtering(measurements: Mapping[str, Any]) -> str:
    """What :func:`measure_filtering` found, as text."""
    turns, episodes = measurements['turns'], measurements['episodes']
    return (
        f'Filtering {turns} turns of {episodes} conversations\n'
        f'  parlai_q2 filter        {median(measurements["filter"]):.2f} s\n'
        f'  --mutators q2_filter    {median(measurements["mutator"]):.2f} s, '
        f'{measurements["ratio"]:.2f} times as long'
    )


def run(opt: Mapping[str, Any], outfile: Path) -> dict[str, Any]:
    """Time ``--mutators q2_filter`` and ``parlai_q2 filter`` on the same turns."""
    times = measure_filtering(opt['rounds'], opt['preset'])
    log.show_result(describe_filtering(times))
    return times
