"""
T5's encoder.
"""

from typing import Any

import torch

from parlai_q2.models.engine.t5.layers import Attention, FeedForward


class Encoder:
    """
    Reads inputs.

    :param stack: the encoder of a T5; its parts are named as in transformers.
    """

    def __init__(self, stack: Any):
        self.embed, self.norm = stack.embed_tokens, stack.final_layer_norm
        first = stack.block[0].layer[0].SelfAttention
        self.position_bias = first.compute_bias
        self.heads = first.n_heads
        self.layers = [
            (
                Attention(
                    block.layer[0].SelfAttention, block.layer[0].layer_norm, 'qkv'
                ),
                FeedForward(block.layer[-1]),
            )
            for block in stack.block
        ]

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """
        Encode inputs.

        :param ids: [S, L], padded on the right.
        :param mask: additive, [S, L]: 0, or very low for padding.
        :return: hidden states [S, L, M].
        """
        size, length = ids.shape
        x = self.embed(ids)
        bias = self.position_bias(length, length) + mask[:, None, None]  # [S, H, L, L]
        for attention, feed_forward in self.layers:
            (project,) = attention.projections
            qkv = project(attention.norm(x)).view(size, length, 3, self.heads, -1)
            q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [S, H, L, D]
            weights = (q @ k.transpose(2, 3)).add_(bias).softmax(-1)  # [S, H, L, L]
            read = (weights @ v).transpose(1, 2).flatten(2)  # [S, L, H * D]
            x = x.add_(attention.out(read))
            x = feed_forward(x)
        return self.norm(x)
