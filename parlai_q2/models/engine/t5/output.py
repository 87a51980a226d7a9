"""
Finds the likeliest next words of each row.

The vocabulary is by far the widest layer, and a pass over its scores costs as much as
the product that computes them. So log-probabilities are computed in one pass (on a CPU,
for a few rows at a time), and the best words are found by way of the best word of each
block of words: the k best words are in the k blocks with the best maxima.
"""

from typing import Optional

import torch
from torch import nn

from parlai_q2.models.device import is_cpu
from parlai_q2.models.engine.int8_linear import Int8Linear
from parlai_q2.models.engine.t5.layers import Layer

ROWS_AT_ONCE = 16
BLOCK = 64
NEVER = float('-inf')


def likeliest(
    layer: Layer,
    x: torch.Tensor,
    k: int,
    banned: Optional[torch.Tensor],
    room: Optional[torch.Tensor] = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The k likeliest words of each row.

    :param layer: the output layer, which maps [rows, M] to [rows, V].
    :param x: hidden states [rows, M].
    :param k: how many words, at most V.
    :param banned: pairs (row, word) that may not come next, [banned, 2], or None.
    :param room: the result of :func:`room_for`.
    :return: their log-probabilities (among all words, including banned ones) and the
        words, best first, each [rows, k].
    """
    values: list[torch.Tensor] = []
    words: list[torch.Tensor] = []
    logits = (layer(x) if room is None else layer(x, room)).float()
    at_once = ROWS_AT_ONCE if is_cpu(x.device.type) else len(x)
    for start in range(0, len(x), at_once):
        logs = logits[start : start + at_once].log_softmax(-1)  # [r, V]
        if banned is not None:
            inside = (banned[:, 0] >= start) & (banned[:, 0] < start + len(logs))
            row, word = banned[inside].unbind(1)
            logs[row - start, word] = NEVER
        value, index = top(logs, k)
        values.append(value)
        words.append(index)
    return torch.cat(values), torch.cat(words)


def room_for(layer: Layer, rows: int) -> Optional[torch.Tensor]:
    """
    Allocate memory for the scores of all words, to reuse at every step of a search.

    :return: [rows, V]; None if the layer cannot use it.
    """
    if not isinstance(layer, Int8Linear):
        return None
    return layer.scale.new_empty(rows, len(layer.scale))


def top(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The k greatest values of each row, as from ``torch.topk``, but faster for long rows.

    :param scores: [rows, V].
    :return: values and indices, each [rows, k], the greatest first.
    """
    rows, size = scores.shape
    if size < k * BLOCK:
        return scores.topk(k)
    spare = -size % BLOCK
    if spare:
        scores = nn.functional.pad(scores, (0, spare), value=NEVER)
    blocks = scores.view(rows, -1, BLOCK)
    best = blocks.amax(-1).topk(k).indices  # [rows, k] blocks
    chosen = blocks.gather(1, best[:, :, None].expand(-1, -1, BLOCK))
    values, at = chosen.flatten(1).topk(k)  # among k * BLOCK
    block = best.gather(1, at // BLOCK)
    return values, block * BLOCK + at % BLOCK
