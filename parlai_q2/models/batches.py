"""
Batches: few large calls of a model, each distinct input once, similar lengths together.
"""

import logging
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from parlai_q2.errors import is_out_of_memory
from parlai_q2.models.device import is_cpu

if TYPE_CHECKING:
    import torch

Item = TypeVar('Item')
Result = TypeVar('Result')

_logger = logging.getLogger(__name__)
# The batch size in the warning, which is shown once.
_warned_sizes: list[int] = []


def read_batches(
    read: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    batches: Sequence[Sequence[int]],
    model: Any,
    threads: int = 1,
) -> list[Result]:
    """
    Run a model on batches of items; return a result for each item, in order. A batch
    that does not fit into the memory is read in halves (:func:`in_halves`).

    :param read: runs the model on some items, and returns a result for each.
    :param batches: the indices of the items in each call; each item is in one of them.
    :param model: what has the ``batch_size``.
    :param threads: how many calls run at once. With more than one, ``read`` must be
        thread-safe and must not need the caller's thread.
    """

    def read_batch(batch: Sequence[int]) -> list[Result]:
        return in_halves(read, [items[i] for i in batch], model)

    if threads > 1 and len(batches) > 1:
        with ThreadPoolExecutor(threads) as pool:
            outputs_per_batch = list(pool.map(read_batch, batches))
    else:
        outputs_per_batch = list(map(read_batch, batches))
    results: dict[int, Result] = {}
    for batch, outputs in zip(batches, outputs_per_batch, strict=True):
        results.update(zip(batch, outputs, strict=True))
    return [results[i] for i in range(len(items))]


def in_halves(
    read: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    model: Any,
) -> list[Result]:
    """
    Run a model on a batch. If the batch does not fit into the memory, its halves are
    read one after the other, and the model's later batches are smaller.

    :param model: has a ``batch_size``, which becomes smaller.
    """
    try:
        return list(read(items))
    except Exception as e:
        if len(items) == 1 or not is_out_of_memory(e):
            raise
    half = (len(items) + 1) // 2
    if not _warned_sizes:
        _warned_sizes.append(half)
        _logger.warning(
            f'The memory is too small for {len(items)} texts at once, so they are '
            f'read in halves. --scorer-batch-size {half} sets this from the start.'
        )
    model.batch_size = min(model.batch_size, half)
    return in_halves(read, items[:half], model) + in_halves(read, items[half:], model)


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

    :param tokens: the most tokens of a batch of several inputs; None for no limit.
    """
    inputs_per_worker = math.ceil(len(lengths) / workers)
    largest = max(1, min(batch_size, inputs_per_worker))
    batches: list[list[int]] = []
    for batch in length_batches(lengths, largest, 1):
        length = max(1, lengths[batch[0]])
        size = max(1, (tokens or sys.maxsize) // length)
        batches += [batch[i : i + size] for i in range(0, len(batch), size)]
    return batches


# For transformers, inputs are padded to a multiple of this many tokens, and share a
# batch only with inputs of the same padded length. The other inputs therefore change
# results only by rounding, about 1e-7.
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
