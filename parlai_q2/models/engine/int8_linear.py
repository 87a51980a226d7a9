"""
Linear layers that compute in int8, with the weights as they are stored.

Weights have one scale per row. Activations get one scale per token, computed on the fly
(Dettmers et al. 2022, "LLM.int8()", arXiv 2208.07339, section 2.1, vector-wise
quantisation). Sums are exact (:mod:`parlai_q2.models.engine.kernels`), so a token's
output does not depend on what else is in its batch. Processors with int8 dot products
run this several times faster than fp32. Rounding the activations can change scores
slightly, so it is a setting (``arithmetic`` in a preset).
"""

import torch
from torch import nn

from parlai_q2.models.engine.int8_weights import INT8_MAX
from parlai_q2.models.engine.kernels import for_products, sums

SMALLEST_SCALE = 1e-12
# Large enough for fast products, small enough that intermediate results stay in the
# CPU's cache. Rows and columns are independent, so these sizes do not affect results.
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 512, 4096
BUFFERS = ('weight', 'scale', 'bias')
# Up to this many numbers, making a copy is cheaper than a second pass over them.
SMALL = 65536
# 1.5 * 2^23. All floats between 2^23 and 2^24 are integers, and this one is in the
# middle.
WHOLE_FROM = 12582912.0


class Int8Linear(nn.Module):
    """
    ``y = x W^T + b`` with W in int8.

    :param quantised: the weights, int8 of shape [out, in]. The first product converts
        them to the form that this processor multiplies.
    :param scale: one scale per row of the weights, fp32 of shape [out].
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
        self._ready = False

    def __call__(
        self, x: torch.Tensor, room: torch.Tensor | None = None
    ) -> torch.Tensor:
        """
        The same as :meth:`forward`, without the overhead of ``nn.Module.__call__``: a
        response takes thousands of calls with little work each.
        """
        return self.forward(x, room)

    def forward(
        self, x: torch.Tensor, room: torch.Tensor | None = None
    ) -> torch.Tensor:
        """
        The output of the layer.

        :param x: [..., in].
        :param room: fp32 [tokens or more, out], a buffer that a large product may
            overwrite; allocating new memory for every product would be slower.
        :return: [..., out], fp32.
        """
        if not self._ready:  # not before: layers may be joined until then
            self.weight, self._ready = for_products(self.weight), True
        weight, scale, bias = map(self._buffers.__getitem__, BUFFERS)
        assert weight is not None and scale is not None
        rows = x.float() if x.dim() == 2 else x.reshape(-1, x.shape[-1]).float()
        if len(rows) * len(weight) <= ROWS_AT_ONCE * COLUMNS_AT_ONCE:
            whole, step = quantise_tokens(rows)
            out = product(whole, step, weight, scale, bias)
        else:
            if room is None:
                out = rows.new_empty(len(rows), len(weight))
            else:
                out = room[: len(rows)]
            for start in range(0, len(rows), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                whole, step = quantise_tokens(rows[part])
                for first in range(0, len(weight), COLUMNS_AT_ONCE):
                    of = slice(first, first + COLUMNS_AT_ONCE)
                    some = None if bias is None else bias[of]
                    out[part, of] = product(whole, step, weight[of], scale[of], some)
        return out if x.dim() == 2 else out.view(*x.shape[:-1], -1)


def product(
    whole: torch.Tensor,
    step: torch.Tensor,
    weight: torch.Tensor,
    scale: torch.Tensor,
    bias: torch.Tensor | None,
) -> torch.Tensor:
    """
    The output of a layer for quantised activations.

    :param whole: activations, int8 [tokens, in].
    :param step: the scales of the activations [tokens, 1].
    :param weight: a weight from :func:`~parlai_q2.models.engine.kernels.for_products`,
        [out, in].
    :param scale: the scales of the weight [out].
    :param bias: [out] or None.
    :return: [tokens, out].
    """
    out = sums(whole, weight).mul_(step).mul_(scale)
    return out if bias is None else out.add_(bias)


def quantise_tokens(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Quantise activations to int8, with one scale per token.

    :param rows: fp32 of shape [tokens, in].
    :return: int8 of the same shape, and the scales, fp32 of shape [tokens, 1].
    """
    step = token_steps(rows)
    return rounded(rows.div(step)).to(torch.int8), step


def token_steps(rows: torch.Tensor) -> torch.Tensor:
    """
    The scale of each token's activations.

    :param rows: fp32 of shape [tokens, in].
    :return: fp32 of shape [tokens, 1].
    """
    if rows.numel() <= SMALL:
        largest = rows.abs().amax(1, keepdim=True)
    else:
        largest = torch.maximum(rows.amax(1, keepdim=True), -rows.amin(1, keepdim=True))
    return largest.clamp_(min=SMALLEST_SCALE).div_(INT8_MAX)


def rounded(numbers: torch.Tensor, zero: int = 0) -> torch.Tensor:
    """
    Round to the nearest integers, and ties to even, like ``torch.round``.

    ``torch.round`` wakes all threads even for 2,048 numbers, which takes longer than
    rounding them. Floats from 2^23 on have no fractional part, so adding such a number
    rounds, and leaves the result in the lowest bits.

    :param numbers: fp32, in [-128, 127]; changed in place.
    :param zero: an even number to add to each.
    :return: int32 of the same shape; only the lowest byte is meaningful.
    """
    return numbers.add_(WHOLE_FROM + zero).view(torch.int32)


class SteadyLinear(nn.Module):
    """
    A small float layer, such as a classifier's output layer, whose result does not
    depend on the number of rows. fp32 products of one row and of many are summed in
    different orders and differ in the last digit; this layer computes in double
    precision, and that difference is rounded away.

    :param weight: fp32 of shape [out, in].
    :param bias: fp32 of shape [out], or None.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None):
        super().__init__()
        self.register_buffer('weight', weight.detach().clone())
        self.register_buffer('bias', None if bias is None else bias.detach().clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """
        The output of the layer.

        :param x: [..., in].
        :return: [..., out], fp32.
        """
        bias = None if self.bias is None else self.bias.double()
        return nn.functional.linear(x.double(), self.weight.double(), bias).float()


def use_int8_linears(model: nn.Module, stored: dict[str, torch.Tensor]) -> nn.Module:
    """
    Replace linear layers by :class:`Int8Linear`, and those that are stored as floats by
    :class:`SteadyLinear`.

    :param model: a model in evaluation mode; changed in place.
    :param stored: the tensors of an int8 weight file, ``<name>.q`` and ``<name>.s``.
    :return: the same model.
    """
    for name, layer in list(model.named_modules()):
        weight = f'{name}.weight'
        parent, _, leaf = name.rpartition('.')
        if not isinstance(layer, nn.Linear):
            continue
        new: nn.Module
        if f'{weight}.q' in stored:
            new = Int8Linear(stored[f'{weight}.q'], stored[f'{weight}.s'], layer.bias)
        else:
            new = SteadyLinear(layer.weight, layer.bias)
        setattr(model.get_submodule(parent), leaf, new)
    return model
