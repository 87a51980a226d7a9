"""
Linear layers that compute in int8: the stored weights as they are, no float copy.

Weights have a scale a row; activations get a scale a token, found on the fly (Dettmers
et al. 2022, "LLM.int8()", arXiv 2208.07339, section 2.1, vector-wise quantisation).
Products are summed in int32, which is exact in any order, so a token's output does not
depend on what else is in its batch. Processors with int8 dot products run this several
times faster than fp32; the rounding of activations can change scores a little, so it is
a setting (``arithmetic`` in a preset).
"""

import torch
from torch import nn

from parlai_q2.models.int8 import INT8_MAX

SMALLEST_SCALE = 1e-12
# So much at once that the product runs at full speed, and so little that what is in
# between stays in a processor's cache. Rows and columns are independent, so the numbers
# decide no result.
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 512, 4096
# Numbers of which a copy costs less than a second pass.
SMALL = 65536


class Int8Linear(nn.Module):
    """
    ``y = x W^T + b`` with W in int8.

    :param quantised: the weights, int8 of shape [out, in].
    :param scale: one a row of the weights, fp32 of shape [out].
    :param bias: fp32 of shape [out], or None.
    """

    weight: torch.Tensor
    scale: torch.Tensor
    bias: torch.Tensor | None

    def __init__(
        self,
        quantised: torch.Tensor,
        scale: torch.Tensor,
        bias: torch.Tensor | None = None,
    ):
        super().__init__()
        self.register_buffer('weight', quantised)
        self.register_buffer('scale', scale.float())
        self.register_buffer('bias', None if bias is None else bias.float())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        :param x: [..., in].
        :return: [..., out], fp32.
        """
        rows = x.reshape(-1, x.shape[-1]).float()  # [tokens, in]
        if len(rows) <= ROWS_AT_ONCE and len(self.weight) <= COLUMNS_AT_ONCE:
            whole, step = quantise_tokens(rows)
            out = self._product(whole, step, slice(None))
        else:
            out = rows.new_empty(len(rows), len(self.weight))
            for start in range(0, len(rows), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                whole, step = quantise_tokens(rows[part])
                for first in range(0, len(self.weight), COLUMNS_AT_ONCE):
                    columns = slice(first, first + COLUMNS_AT_ONCE)
                    out[part, columns] = self._product(whole, step, columns)
        return out.view(*x.shape[:-1], -1)

    def _product(
        self, whole: torch.Tensor, step: torch.Tensor, columns: slice
    ) -> torch.Tensor:
        product = torch._int_mm(whole, self.weight[columns].t())
        out = product.float().mul_(step).mul_(self.scale[columns])
        return out if self.bias is None else out.add_(self.bias[columns])


def quantise_tokens(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Activations in int8, with a scale a token.

    :param rows: fp32 of shape [tokens, in].
    :return: int8 of the same shape, and the scales, fp32 of shape [tokens, 1].
    """
    if rows.numel() <= SMALL:
        largest = rows.abs().amax(1, keepdim=True)
    else:
        largest = torch.maximum(rows.amax(1, keepdim=True), -rows.amin(1, keepdim=True))
    step = largest.clamp_(min=SMALLEST_SCALE).div_(INT8_MAX)
    return rows.div(step).round_().to(torch.int8), step


class SteadyLinear(nn.Module):
    """
    A small float layer, such as a classifier's output, whose result does not depend on
    how many rows it is given: fp32 products of one row and of many are summed in
    another order, and differ in the last digit. In double precision that difference is
    rounded away.

    :param layer: the layer to stand for.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, layer: nn.Linear):
        super().__init__()
        self.register_buffer('weight', layer.weight.detach().clone())
        bias = layer.bias
        self.register_buffer('bias', None if bias is None else bias.detach().clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        :param x: [..., in].
        :return: [..., out], fp32.
        """
        bias = None if self.bias is None else self.bias.double()
        return nn.functional.linear(x.double(), self.weight.double(), bias).float()


def use_int8_linears(
    model: nn.Module, stored: dict[str, torch.Tensor], keep: tuple[str, ...] = ()
) -> nn.Module:
    """
    Replace linear layers by int8 ones, and those that are stored as floats by steady
    ones.

    :param model: a model in evaluation mode, changed in place.
    :param stored: an int8 weight file's tensors, ``<name>.q`` and ``<name>.s``.
    :param keep: last parts of the names of layers that stay as they are.
    :return: the same model.
    """
    for name, layer in list(model.named_modules()):
        weight = f'{name}.weight'
        parent, _, leaf = name.rpartition('.')
        if not isinstance(layer, nn.Linear) or leaf in keep:
            continue
        new: nn.Module
        if f'{weight}.q' in stored:
            new = Int8Linear(stored[f'{weight}.q'], stored[f'{weight}.s'], layer.bias)
        else:
            new = SteadyLinear(layer)
        setattr(model.get_submodule(parent), leaf, new)
    return model


def int8_works() -> bool:
    """
    Whether this torch multiplies int8 matrices on this processor.
    """
    one = torch.ones(1, 8, dtype=torch.int8)
    try:
        return bool(torch._int_mm(one, one.t()).item() == 8)
    except (AttributeError, RuntimeError):
        return False
