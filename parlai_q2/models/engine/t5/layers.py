"""
The parts of a T5 layer, with the weights of a Hugging Face model and its operations, in
their order and their shapes per row: with int8 layers, a difference in the last digit
can round an activation to another step.

Projections of the same input are joined into one product, so that an int8 input is
quantised only once. The model's own weights become views of the joined ones.
"""

import math
from typing import Any, Callable, Sequence

import torch
from torch import nn

from parlai_q2.models.engine.int8_linear import Int8Linear

Layer = Callable[..., torch.Tensor]
# Constants of gelu_new (Hendrycks and Gimpel 2016, arXiv 1606.08415, section 2).
GELU_SCALE, GELU_CUBIC = math.sqrt(2 / math.pi), 0.044715


def joined(layers: Sequence[Any]) -> Layer:
    """
    Join linear layers of the same input, without biases, into one with their outputs
    side by side: [..., in] to [..., sum of outs].
    """
    if len(layers) == 1:
        return layers[0]
    plain = all(type(layer) is nn.Linear and layer.bias is None for layer in layers)
    whole = all(
        type(layer) is Int8Linear and layer.bias is None and layer.weight is not None
        for layer in layers
    )
    if not (plain or whole):
        return lambda x: torch.cat([layer(x) for layer in layers], -1)
    weight = torch.cat([layer.weight.detach() for layer in layers])
    together: Any
    if whole:
        together = Int8Linear(weight, torch.cat([x.scale for x in layers]))
    else:
        together = nn.Linear(weight.shape[1], weight.shape[0], False, 'meta')
        together.weight = nn.Parameter(weight, requires_grad=False)
    start = 0
    for layer in layers:
        rows = weight[start : start + len(layer.weight)]
        layer.weight = nn.Parameter(rows, requires_grad=False) if plain else rows
        start += len(rows)
    return together


class Attention:
    """
    The weights of a Hugging Face ``T5Attention``.

    :param joins: groups of q, k and v that are computed from the same input.
    """

    def __init__(self, module: Any, norm: Layer, *joins: str):
        self.norm, self.out = norm, module.o
        self.heads = module.n_heads
        self.projections = [
            joined([getattr(module, name) for name in join]) for join in joins
        ]


class FeedForward:
    """A ``T5LayerFF``, plain (relu) or gated (gelu), with its residual."""

    def __init__(self, module: Any):
        dense = module.DenseReluDense
        self.norm, self.out = module.layer_norm, dense.wo
        self.gated = hasattr(dense, 'wi_0')
        self.into = joined([dense.wi_0, dense.wi_1] if self.gated else [dense.wi])
        new_gelu = type(dense.act).__name__ == 'NewGELUActivation'
        self.act: Layer = gelu_new if new_gelu else dense.act

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer to [..., M], in place."""
        wide = self.into(self.norm(x))
        if self.gated:
            gate, linear = wide.chunk(2, -1)
            wide = self.act(gate).mul_(linear)
        else:
            wide = self.act(wide)
        return x.add_(self.out(wide))


def gelu_new(x: torch.Tensor) -> torch.Tensor:
    """
    ``0.5 x (1 + tanh(u))`` with ``u = sqrt(2 / pi) (x + 0.044715 x^3)``, computed in
    the same steps as transformers' ``NewGELUActivation``, but in place.
    """
    u = (x * x).mul_(x).mul_(GELU_CUBIC).add_(x).mul_(GELU_SCALE)
    return u.tanh_().add_(1).mul_(x * 0.5)


class Encoder:
    """Reads inputs with a T5's encoder, whose parts are named as in transformers."""

    def __init__(self, stack: Any):
        self.embed, self.norm = stack.embed_tokens, stack.final_layer_norm
        first = stack.block[0].layer[0].SelfAttention
        self.position_bias = first.compute_bias
        self.heads = first.n_heads
        self.layers = [
            (Attention(read.SelfAttention, read.layer_norm, 'qkv'), FeedForward(last))
            for read, last in (block.layer for block in stack.block)
        ]

    def __call__(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """
        Encode inputs as hidden states [S, L, M].

        :param ids: [S, L], padded on the right.
        :param mask: additive, [S, L]: 0, or very low for padding.
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
