"""
An int8 layer whose weights also stand in the order in which they are multiplied.

``torch._int_mm`` brings weights into that order at every call. For the output layer of
a search, which is wide and read by few rows at a time, that takes longer than the
product itself; so oneDNN does it once here, for the price of a second copy.
"""

import functools
from typing import Any

import torch

from parlai_q2.models.int8 import INT8_MAX
from parlai_q2.models.int8_linear import Int8Linear, rounded, token_steps
from parlai_q2.models.int8_products import EXACT_TERMS, int8_dots

# oneDNN wants activations without a sign, and takes this off again in its sums. (With a
# sign it falls back to a loop a thousand times slower, and says nothing.)
ZERO = 128
# Of more rows, new memory for what comes out costs what the product saves.
FEW_ROWS = 64
# Rows, columns and terms of the product that is tried before any is trusted.
TRIED = (5, 96, 64)


class PackedLinear(Int8Linear):
    """
    An int8 layer without a bias, for two-dimensional inputs, that gives the same to the
    last bit, sooner for few rows.

    :param layer: the layer; its weights are shared.
    :raises AttributeError, RuntimeError, TypeError: where torch has no such products,
        or has them under another signature.
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
        :param x: fp32 [tokens, in].
        :param room: as :class:`~parlai_q2.models.int8_linear.Int8Linear` has it.
        :return: fp32 [tokens, out].
        """
        if len(x) > FEW_ROWS:
            return super().forward(x, room)
        step = token_steps(x)
        whole = rounded(x.div(step), ZERO).to(torch.uint8)
        return self.sums(whole).mul_(step).mul_(self.scale)

    def sums(self, whole: torch.Tensor) -> torch.Tensor:
        """
        :param whole: activations, each with :data:`ZERO` added, uint8 [tokens, in].
        :return: fp32 [tokens, out].
        """
        return torch.ops.onednn.qlinear_pointwise(
            whole,
            1.0,  # the scale of what comes in
            ZERO,
            self._packed,
            self._ones,
            self._zeros,
            None,  # no bias
            1.0,  # the scale of what goes out, and its zero
            0,
            torch.float32,
            'none',  # nothing is done to it
            [],
            '',
        )


def packed(layer: Any) -> Any:
    """
    A layer, packed where that can be done.

    :param layer: any layer.
    :return: a :class:`PackedLinear`; or the layer itself, where it is no int8 layer or
        has a bias, or torch or the processor has no such products.
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
    Whether the largest products there are come out as without packing.
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
