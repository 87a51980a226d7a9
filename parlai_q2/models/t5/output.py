"""
The likeliest next words of each row.

The vocabulary is by far the widest layer, and passes over its scores cost as much as
the product that gives them. So log-probabilities are made in one pass (on a processor,
of few rows at a time), and the best are found by way of the best of each block of
words: the k best words lie in the k blocks whose best words are best.
"""

from typing import Optional

import torch
from torch import nn

from parlai_q2.models.device import is_cpu
from parlai_q2.models.int8_linear import Int8Linear
from parlai_q2.models.t5.layers import Layer

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

    :param layer: the output layer, [rows, M] to [rows, V].
    :param x: hidden states [rows, M].
    :param k: at most V.
    :param banned: pairs (row, word) that may not follow, [banned, 2], or None.
    :param room: what :func:`room_for` gave.
    :return: their log-probabilities (among all words, the banned included) and the
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
    Memory for the scores of all words, to be used at every step of a search.

    :param layer: the output layer.
    :param rows: how many there are at most.
    :return: [rows, V]; None for a layer that takes none.
    """
    if not isinstance(layer, Int8Linear):
        return None
    return layer.scale.new_empty(rows, len(layer.weight))


def top(scores: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """
    The k greatest of each row, as ``torch.topk`` gives them, faster for long rows.

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
