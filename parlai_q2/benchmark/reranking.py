"""Measures what reranking adds to a turn."""

from collections.abc import Mapping, Sequence
from functools import partial
from statistics import fmean, median
from typing import Any

from parlai_q2.benchmark.clock import StageClock, spread, timed


def measure_reranking(agent: Any, turns: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """
    Time a GroundedRerankAgent's search, its scorer and, after the reply, its evidence.

    :param turns: (knowledge, message), each answered in an episode of its own; the
        first is answered twice, to warm up.
    :return: seconds a turn of each, and the median ratio of scoring to generating.
    """

    def answer(message: dict[str, Any]) -> Any:
        agent.observe(message)
        return agent.act()

    rank, times = agent.reranker.rank_batch, []
    for knowledge, text in [turns[0], *turns]:
        message = {'text': text, 'knowledge': knowledge, 'episode_done': True}
        clock = StageClock()
        agent.reranker.rank_batch = clock.timed('score', rank)
        agent.reset()
        whole, reply = timed(partial(answer, message))
        explained, _ = timed(partial(agent.explained, reply))
        score = clock.seconds['score']
        times.append((whole - score, score, explained, len(reply['rerank'])))
    del agent.reranker.rank_batch
    generate, scored, explain, distinct = zip(*times[1:], strict=True)
    return {
        'turns': len(turns),
        'distinct_candidates': fmean(distinct),
        'generate': spread(generate),
        'score': spread(scored),
        'explain': spread(explain),
        'score_over_generate': median(
            s / g for s, g in zip(scored, generate, strict=True)
        ),
    }


def describe_reranking(scorer: str, measurements: Mapping[str, Any]) -> str:
    """What :func:`measure_reranking` found, as text."""
    generate, score, explain = (
        measurements[n] for n in ('generate', 'score', 'explain')
    )
    return (
        f'Reranking {measurements["turns"]} turns by {scorer}, '
        f'{measurements["distinct_candidates"]:.1f} distinct candidates a turn\n'
        f'  to find candidates      {generate["median"]:.3f} s a turn\n'
        f'  to score them           {score["median"]:.3f} s a turn '
        f'({score["p95"]:.3f} at the 95th percentile), '
        f'{measurements["score_over_generate"]:.2f} of the time to find them\n'
        f'  to explain the shown    {explain["median"]:.3f} s a turn '
        f'({explain["p95"]:.3f} at the 95th percentile)'
    )
