"""
Few large calls: identical inputs once, similar lengths together.
"""

from typing import (
    TYPE_CHECKING,
    Any,
    Callable,
    Hashable,
    Mapping,
    Sequence,
    TypeVar,
)

if TYPE_CHECKING:
    import torch

Item = TypeVar('Item', bound=Hashable)
Result = TypeVar('Result')


def map_unique(
    items: Sequence[Item], function: Callable[[list[Item]], list[Result]]
) -> list[Result]:
    """
    Apply a batch function to each distinct item once.

    :param items: items, perhaps with repetition.
    :param function: distinct items to as many results.
    :return: a result an item, in order.
    """
    distinct = list(dict.fromkeys(items))
    results = dict(zip(distinct, function(distinct), strict=True)) if distinct else {}
    return [results[item] for item in items]


def length_batches(lengths: Sequence[int], batch_size: int) -> list[list[int]]:
    """
    Indices in batches of similar length, longest first, so that little is padded and
    memory peaks at the start.

    :param lengths: tokens (or characters) of each input.
    :param batch_size: inputs in a batch, at most.
    :return: batches of indices; each index stands in exactly one.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return [order[i : i + batch_size] for i in range(0, len(order), batch_size)]


def pad(
    encoded: Mapping[str, Sequence[list[int]]],
    rows: Sequence[int],
    fill: dict[str, int],
) -> dict[str, 'torch.Tensor']:
    """
    Some rows of a tokenizer's output as tensors, padded on the right to the longest.

    :param encoded: model input name to one list of ids a row.
    :param rows: which rows, B indices.
    :param fill: model input name to what it is padded with, 0 if not named.
    :return: model input name to a tensor [B, L].
    """
    import torch

    padded: dict[str, Any] = {}
    for name, values in encoded.items():
        length = max(len(values[i]) for i in rows)
        value = fill.get(name, 0)
        padded[name] = torch.tensor(
            [list(values[i]) + [value] * (length - len(values[i])) for i in rows]
        )
    return padded


def model_inputs(tokenizer: Any, encoded: Mapping[str, Any]) -> dict[str, Any]:
    """
    What a model takes of a tokenizer's output: ids, mask and, if any, segment ids.
    """
    return {k: encoded[k] for k in tokenizer.model_input_names if k in encoded}
