"""
Computes a pipeline's throughput as a share of that of its model alone, with its
interval.

The interval is a percentile bootstrap over turns, since there is no simpler interval
for a ratio of sums.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from parlai_q2.benchmark.throughput import Seconds, Turn
from parlai_q2.bootstrap import intervals


def compare(turns: Sequence[Turn], differing: int) -> dict[str, Any]:
    """
    The pipeline's throughput as a share of that of the model alone.

    :param turns: the turns, at least one.
    :param differing: how many scores differ from those of the model alone.
    :return: for each clock, the pipeline's pairs a second, and its share of the model's
        throughput with and without tokenizing. A share of 1 means as fast as the model
        alone; with it come its 95 % interval, and the least, median and greatest share
        of a single turn.
    """
    found: dict[str, Any] = {
        'pairs': sum(turn.pairs for turn in turns),
        'turns': len(turns),
        'differing_scores': differing,
    }
    for place, clock in enumerate(Seconds._fields):
        pipeline = [turn.pipeline[place] for turn in turns]
        model = [turn.model[place] for turn in turns]
        both = [turn.model[place] + turn.tokenizing[place] for turn in turns]
        found[clock] = {
            'pairs_a_second': found['pairs'] / sum(pipeline),
            'model': share(model, pipeline),
            'model_and_tokenizing': share(both, pipeline),
        }
    return found


def share(alone: Sequence[float], whole: Sequence[float]) -> dict[str, float]:
    """
    The ratio of two sums of times that were taken in turns, and its spread.

    :param alone: seconds of the model alone in each turn, at least one.
    :param whole: seconds of the pipeline in each turn.
    """
    each = sorted(a / w for a, w in zip(alone, whole, strict=True))
    (found,) = intervals(
        lambda weights: ((weights @ alone) / (weights @ whole))[:, None], len(whole)
    )
    assert found is not None
    return {
        'share': found.mean,
        'low': found.low,
        'high': found.high,
        'least': each[0],
        'median': each[len(each) // 2],
        'most': each[-1],
    }


def describe(found: Mapping[str, Mapping[str, Any]]) -> str:
    """
    Render what :func:`compare` returned for each pipeline as text.
    """
    lines = [
        "Throughput as a share of the model's own; in brackets the 95 % interval, then "
        'the least,',
        'the median and the most of single turns',
    ]
    for name, one in found.items():
        lines.append(
            f'{name}: {one["pairs"]:,} pairs in {one["turns"]} turns, '
            f'{one["processor"]["pairs_a_second"]:.1f} a second of the processor, '
            f'{one["clock"]["pairs_a_second"]:.1f} by the clock; scores that differ: '
            f'{one["differing_scores"]}'
        )
        for clock, title in (('processor', 'processor'), ('clock', 'clock')):
            for part, words in (
                ('model_and_tokenizing', 'tokenizing and model'),
                ('model', 'model only'),
            ):
                s = one[clock][part]
                lines.append(
                    f'  {title:<10}{words:<21}{s["share"]:.3f} '
                    f'[{s["low"]:.3f}, {s["high"]:.3f}]  '
                    f'{s["least"]:.3f} {s["median"]:.3f} {s["most"]:.3f}'
                )
    return '\n'.join(lines)
