"""
Measures what reranking adds to a turn: the time to find candidates, to score them, and
to explain those that are shown, which happens after the reply.
"""

import time
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

from parlai_q2.benchmark.clock import spread


def measure_reranking(
    agent: Any, turns: Sequence[tuple[str, str]], warm_up: int = 1
) -> dict[str, Any]:
    """
    Time an agent's turns, separately for its search, its scorer and its evidence.

    :param agent: a GroundedRerankAgent.
    :param turns: (knowledge, message), each answered in an episode of its own.
    :param warm_up: number of turns answered first that are not timed.
    :return: seconds a turn to generate, to score and to explain, and the median ratio
        of scoring to generating.
    """
    generate: list[float] = []
    score: list[float] = []
    explain: list[float] = []
    distinct: list[int] = []
    rank = agent.reranker.rank_batch
    spent: list[float] = []

    def timed_rank(*args: Any) -> Any:
        start = time.perf_counter()
        rankings = rank(*args)
        spent.append(time.perf_counter() - start)
        return rankings

    agent.reranker.rank_batch = timed_rank
    try:
        for n, (knowledge, text) in enumerate([*turns[:warm_up], *turns]):
            agent.reset()
            message = {'text': text, 'knowledge': knowledge, 'episode_done': True}
            start = time.perf_counter()
            agent.observe(message)
            reply = agent.act()
            whole = time.perf_counter() - start
            start = time.perf_counter()
            agent.explain(reply)
            explained = time.perf_counter() - start
            if n >= warm_up:
                score.append(spent[-1])
                generate.append(whole - spent[-1])
                explain.append(explained)
                distinct.append(len(reply['rerank']))
    finally:
        del agent.reranker.rank_batch
    return {
        'turns': len(turns),
        'distinct_candidates': fmean(distinct),
        'generate': spread(generate),
        'score': spread(score),
        'explain': spread(explain),
        'score_over_generate': median(
            s / g for s, g in zip(score, generate, strict=True)
        ),
    }


def describe_reranking(scorer: str, found: Mapping[str, Any]) -> str:
    """What :func:`measure_reranking` found, as text."""
    generate, score, explain = (found[n] for n in ('generate', 'score', 'explain'))
    return (
        f'Reranking {found["turns"]} turns by {scorer}, '
        f'{found["distinct_candidates"]:.1f} distinct candidates a turn\n'
        f'  to find candidates      {generate["median"]:.3f} s a turn\n'
        f'  to score them           {score["median"]:.3f} s a turn '
        f'({score["p95"]:.3f} at the 95th percentile), '
        f'{found["score_over_generate"]:.2f} of the time to find them\n'
        f'  to explain the shown    {explain["median"]:.3f} s a turn '
        f'({explain["p95"]:.3f} at the 95th percentile)'
    )
