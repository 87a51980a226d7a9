"""
An int8 layer that also keeps its weights in the order in which they are multiplied.

``torch._int_mm`` reorders the weights at every call. For the output layer of a search,
which is wide and gets only a few rows at a time, that takes longer than the product
itself. Here oneDNN reorders them once, at the cost of a second copy.
"""

import functools
from typing import Any

import torch

from parlai_q2.models.engine.int8_linear import Int8Linear, rounded, token_steps
from parlai_q2.models.engine.int8_weights import INT8_MAX
from parlai_q2.models.engine.kernels import EXACT_TERMS, int8_dots

# oneDNN needs unsigned activations; this zero point is added to them, and oneDNN
# subtracts it again. With signed ones, it silently uses a loop that is a thousand times
# slower.
ZERO = 128
# With more rows, allocating the output costs as much as the product saves.
FEW_ROWS = 64
# Rows, columns and terms of the product that is tested first.
TRIED = (5, 96, 64)


class PackedLinear(Int8Linear):
    """
    An int8 layer without a bias, for two-dimensional inputs. It gives bit for bit the
    same results as :class:`Int8Linear`, but is faster for few rows.

    :param layer: the layer to speed up; its weights are shared.
    :raises AttributeError, RuntimeError, TypeError: if torch does not have these
        products, or has them under another signature.
    """

    def __init__(self, layer: Int8Linear):
        super().__init__(layer.weight, layer.scale)
        size = len(layer.weight)
        self._packed = torch.ops.onednn.qlinear_prepack(layer.weight, None)
        self._ones = torch.ones(size, dtype=torch.float32)
        self._zeros = torch.zeros(size, dtype=torch.long)

    def forward(
        self, x: torch.Tensor, room: torch.Tensor | None = None
    ) -> torch.Tensor:
        """
        The output of the layer.

        :param x: fp32 [tokens, in].
        :param room: as for :class:`~parlai_q2.models.engine.int8_linear.Int8Linear`.
        :return: fp32 [tokens, out].
        """
        if len(x) > FEW_ROWS:
            return super().forward(x, room)
        step = token_steps(x)
        whole = rounded(x.div(step), ZERO).to(torch.uint8)
        return self.sums(whole).mul_(step).mul_(self.scale)

    def sums(self, whole: torch.Tensor) -> torch.Tensor:
        """
        The products with the weights, before scaling.

        :param whole: activations, each with :data:`ZERO` added, uint8 [tokens, in].
        :return: fp32 [tokens, out].
        """
        return torch.ops.onednn.qlinear_pointwise(
            whole,
            1.0,  # the scale of the input
            ZERO,
            self._packed,
            self._ones,
            self._zeros,
            None,  # no bias
            1.0,  # the scale of the output, and its zero point
            0,
            torch.float32,
            'none',  # no operation on the output
            [],
            '',
        )


def packed(layer: Any) -> Any:
    """
    Pack a layer, if possible.

    :param layer: any layer.
    :return: a :class:`PackedLinear`; the layer itself if it is not an int8 layer, has a
        bias or too many inputs, or if torch or the processor lacks these products.
    """
    fits = (
        type(layer) is Int8Linear
        and layer.bias is None
        and layer.weight.shape[1] <= EXACT_TERMS
    )
    return PackedLinear(layer) if fits and packing_works() else layer


@functools.cache
def packing_works() -> bool:
    """
    Whether the largest possible products are the same with and without packing.
    """
    if not int8_dots():
        return False
    rows, columns, terms = TRIED
    weight = torch.full((columns, terms), INT8_MAX, dtype=torch.int8)
    weight[::2] *= -1
    layer = Int8Linear(weight, torch.ones(columns, dtype=torch.float32))
    largest = torch.ones(rows, terms, dtype=torch.float32)
    largest[1::2] *= -1
    try:
        return torch.equal(PackedLinear(layer)(largest), layer(largest))
    except (AttributeError, RuntimeError, TypeError):
        return False
