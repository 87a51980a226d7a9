"""
Groups inputs into few large model calls: each distinct input once, similar lengths
together.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

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


# Inputs are padded to a multiple of this many tokens, and share a batch only with
# inputs of the same padded length. So the results for an input do not depend on the
# lengths of others: with int8 products they are identical in any batch, in fp32 to
# about 1e-7.
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


def pad(
    encoded: Mapping[str, Sequence[list[int]]],
    rows: Sequence[int],
    fill: dict[str, int],
    step: int = LENGTH_STEP,
) -> dict[str, 'torch.Tensor']:
    """
    Some rows of a tokenizer's output as tensors [B, L] by the inputs' names, padded on
    the right to their :func:`padded_length`.

    :param encoded: maps each model input's name to one list of ids per row.
    :param fill: maps a model input's name to its padding value, 0 if not given.
    """
    import torch

    padded: dict[str, Any] = {}
    for name, values in encoded.items():
        length = padded_length(max(len(values[i]) for i in rows), step)
        value = fill.get(name, 0)
        padded[name] = torch.tensor(
            [list(values[i]) + [value] * (length - len(values[i])) for i in rows]
        )
    return padded


def padded_batches(
    tokenizer: Any, encoded: Mapping[str, Any], batch_size: int, step: int = LENGTH_STEP
) -> tuple[list[list[int]], Iterator[dict[str, 'torch.Tensor']]]:
    """
    Split a tokenizer's output into batches of one padded length each: the rows of each,
    and an iterator that creates its tensors on demand.
    """
    # Ids, mask and, if any, segment ids.
    inputs = {k: encoded[k] for k in tokenizer.model_input_names if k in encoded}
    rows = length_batches([len(i) for i in encoded['input_ids']], batch_size, step)
    fill = {'input_ids': tokenizer.pad_token_id}
    return rows, (pad(inputs, some, fill, step) for some in rows)
