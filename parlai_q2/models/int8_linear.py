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
        step = rows.abs().amax(1, keepdim=True).clamp_(min=SMALLEST_SCALE) / INT8_MAX
        whole = torch.round(rows / step).to(torch.int8)
        product = torch._int_mm(whole, self.weight.t()).float()  # [tokens, out]
        product.mul_(step).mul_(self.scale)
        if self.bias is not None:
            product.add_(self.bias)
        return product.view(*x.shape[:-1], -1)


def use_int8_linears(
    model: nn.Module, stored: dict[str, torch.Tensor], keep: tuple[str, ...] = ()
) -> nn.Module:
    """
    Replace linear layers by int8 ones.

    :param model: a model in evaluation mode, changed in place.
    :param stored: an int8 weight file's tensors, ``<name>.q`` and ``<name>.s``.
    :param keep: last parts of the names of layers that stay as they are.
    :return: the same model.
    """
    for name, layer in list(model.named_modules()):
        weight = f'{name}.weight'
        if not isinstance(layer, nn.Linear) or f'{weight}.q' not in stored:
            continue
        parent, _, leaf = name.rpartition('.')
        if leaf in keep:
            continue
        new = Int8Linear(stored[f'{weight}.q'], stored[f'{weight}.s'], layer.bias)
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
