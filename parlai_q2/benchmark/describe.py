"""
Renders a benchmark's figures as text.
"""

from collections.abc import Mapping
from typing import Any

from parlai_q2.benchmark.stages import STAGES


def describe_metric(found: Mapping[str, Any]) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.metric.measure_batched` returned, with the
    loops.
    """
    batched, alone = found['batched'], found['one_response']
    lines = [
        f'{found["responses"]} responses, {found["questions"]} questions',
        f'  in batches              {batched["median"]:.3f} s a response '
        f'({batched["min"]:.3f} to {batched["max"]:.3f})',
    ]
    lines += [
        f'    {stage:<21} {found["stages"][stage]:.3f} s, '
        f'{found["stage_share"][stage]:.0%} of the stages'
        for stage in STAGES
        if stage in found['stages']
    ]
    lines.append(
        f'  one response alone      {alone["median"]:.3f} s, '
        f'{alone["p95"]:.3f} s at the 95th percentile'
    )
    for preset, seconds in found.get('loop', {}).items():
        lines.append(
            f'  one question at a time  {seconds:.3f} s a response ({preset}, '
            f'generate): {found["speed_up"][preset]:.1f} times as long'
        )
    if 'largest_difference' in found:
        lines.append(f'  largest difference      {found["largest_difference"]:.1e}')
    if 'mean_difference_to_float32' in found:
        mean = found['mean_difference_to_float32']
        lines.append(f'  mean difference to fp32 {mean:.3f}')
    return '\n'.join(lines)


def describe_workers(found: Mapping[str, Any], loop: Mapping[str, float]) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.workers.measure_workers` returned.

    :param loop: seconds a response of each loop that was measured, by preset.
    """
    seconds, threads = found['seconds'], found['threads']
    lines = [
        f'In bulk, {found["workers"]} processes of {threads} '
        f'{"thread" if threads == 1 else "threads"}',
        f'  each with its models    {seconds["median"]:.3f} s a response '
        f'({seconds["min"]:.3f} to {seconds["max"]:.3f})',
    ]
    lines += [
        f'  one question at a time  {loop[preset] / seconds["median"]:.1f} times as '
        f'long ({preset})'
        for preset in loop
    ]
    return '\n'.join(lines)


def describe_search(found: Mapping[str, Any]) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.search.measure_search` returned.
    """
    ours = found['auto']
    lines = [
        f'Questions for {found["spans"]} spans',
        f'  our search              {ours:.4f} s a span',
        f'  generate                {found["generate"]:.4f} s a span, '
        f'{found["generate"] / ours:.1f} times as long',
        f'  spans that differ       {found["differ"]}',
    ]
    if 'ctranslate2' in found:
        lines += [
            f'  CTranslate2             {found["ctranslate2"]:.4f} s a span, '
            f'{found["ctranslate2"] / ours:.1f} times as long',
            f'  first ones that differ  {found["differ_in_first"]}',
        ]
    return '\n'.join(lines)


def describe_floor(found: Mapping[str, float], responses: int, batched: float) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.floor.measure_floor` returned.

    :param responses: number of responses that the operations were counted over.
    :param batched: measured seconds a response.
    """
    floor = found['seconds'] / responses
    return (
        f'Matrix products         {found["operations"] / responses / 1e9:.1f}e9 '
        f'operations a response, {found["rate"] / 1e9:.0f}e9 a second\n'
        f'  at that rate            {floor:.3f} s a response, '
        f'{floor / batched:.0%} of what was measured'
    )


def describe_growth(scorer: str, found: Mapping[str, Any]) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.growth.measure_growth` returned.
    """
    names = {
        'candidates': 'candidates of a turn',
        'response_length': 'response, times as long',
        'knowledge_length': 'knowledge, times as long',
    }
    lines = [f'Seconds of a call, {scorer}']
    for part, name in names.items():
        sizes = ', '.join(f'{n}: {s:.3f}' for n, s in found[part].items())
        lines.append(f'  {name:<26}{sizes}')
    return '\n'.join(lines)


def describe_reranking(scorer: str, found: Mapping[str, Any]) -> str:
    """
    Render what :func:`~parlai_q2.benchmark.reranking.measure_reranking` returned.
    """
    generate, score = found['generate'], found['score']
    return (
        f'Reranking {found["turns"]} turns by {scorer}, '
        f'{found["distinct_candidates"]:.1f} distinct candidates a turn\n'
        f'  to find candidates      {generate["median"]:.3f} s a turn\n'
        f'  to score them           {score["median"]:.3f} s a turn '
        f'({score["p95"]:.3f} at the 95th percentile), '
        f'{found["score_over_generate"]:.2f} of the time to find them'
    )
