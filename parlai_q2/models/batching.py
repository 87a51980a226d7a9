"""
Groups inputs into few large model calls: each distinct input once, similar lengths
together.
"""

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeVar

from parlai_q2.models.device import is_cpu

if TYPE_CHECKING:
    import torch

Item = TypeVar('Item', bound=Hashable)
Result = TypeVar('Result')


def map_unique(
    items: Sequence[Item], function: Callable[[list[Item]], list[Result]]
) -> list[Result]:
    """Apply a batch function to each distinct item once; a result per item."""
    distinct = list(dict.fromkeys(items))
    results = dict(zip(distinct, function(distinct), strict=True)) if distinct else {}
    return [results[item] for item in items]


def equal_batches(
    lengths: Sequence[int], batch_size: int, workers: int = 1, tokens: int | None = None
) -> list[list[int]]:
    """
    Split inputs into batches of indices, of one length each, longest first, and small
    enough that each worker gets some.

    :param tokens: the most tokens of a batch of several inputs; None for any number.
    """
    most = max(1, min(batch_size, -(-len(lengths) // workers)))
    return [
        batch[i : i + size]
        for batch in length_batches(lengths, most, 1)
        for size in [max(1, (tokens or sys.maxsize) // max(1, lengths[batch[0]]))]
        for i in range(0, len(batch), size)
    ]


# Where transformers computes, inputs are padded to a multiple of this many tokens, and
# share a batch only with inputs of the same padded length. So the results for an input
# depend on the lengths of others only by rounding, about 1e-7.
LENGTH_STEP = 8
# On a GPU, padding costs almost nothing, but every call does.
GPU_LENGTH_STEP = 32


def length_step(device: str) -> int:
    """The number of tokens that input lengths are rounded up to a multiple of."""
    return LENGTH_STEP if is_cpu(device) else GPU_LENGTH_STEP


def padded_length(length: int, step: int = LENGTH_STEP) -> int:
    return -(-length // step) * step


def length_batches(
    lengths: Sequence[int], batch_size: int, step: int = LENGTH_STEP
) -> list[list[int]]:
    """
    Split inputs into batches of indices, of one padded length each, longest first, so
    that there is little padding and memory use peaks at the start.
    """
    groups: dict[int, list[int]] = {}
    for i, length in enumerate(lengths):
        groups.setdefault(padded_length(length, step), []).append(i)
    return [
        group[i : i + batch_size]
        for _, group in sorted(groups.items(), reverse=True)
        for i in range(0, len(group), batch_size)
    ]


def padded(
    rows: Sequence[Sequence[int]], value: int, step: int = LENGTH_STEP
) -> 'torch.Tensor':
    """
    Rows of ids as a tensor [B, L], padded on the right to their
    :func:`padded_length`.
    """
    import torch

    length = padded_length(max(map(len, rows)), step)
    return torch.tensor([[*row, *[value] * (length - len(row))] for row in rows])
