"""
Linear layers that compute in int8, with the weights as they are stored.

Weights have one scale per row, and activations one per token, computed on the fly
(Dettmers et al. 2022, "LLM.int8()", arXiv 2208.07339, section 2.1). Sums are exact, so
a token's output does not depend on what else is in its batch. Rounding the activations
can change scores slightly, so it is a setting (``arithmetic`` in a preset).
"""

from typing import Optional

import torch
from torch import nn

from parlai_q2.models.engine.int8_weights import INT8_MAX
from parlai_q2.models.engine.kernels import Kernel, current_choice, kernel_for

SMALLEST_SCALE = 1e-12
# The most numbers to compute at once: enough for fast products, few enough that they
# stay in the CPU's cache. Rows are independent, so this does not affect results.
NUMBERS_AT_ONCE = 2**21
MOST_ROWS = 512
# Up to this many numbers, making a copy is cheaper than a second pass over them.
SMALL = 65536
# 1.5 * 2^23. All floats between 2^23 and 2^24 are integers, and this one is in the
# middle.
WHOLE_FROM = 12582912.0


class Int8Linear(nn.Module):
    """
    ``y = x W^T + b`` with W in int8.

    :param quantised: the weights, int8 of shape [out, in]. The first product hands them
        to a kernel, which may keep them in another form.
    :param scale: one scale per row of the weights, fp32 of shape [out].
    :param bias: fp32 of shape [out], or None.
    """

    weight: Optional[torch.Tensor]
    scale: torch.Tensor
    bias: Optional[torch.Tensor]

    def __init__(
        self,
        quantised: torch.Tensor,
        scale: torch.Tensor,
        bias: Optional[torch.Tensor] = None,
    ):
        super().__init__()
        self.register_buffer('weight', quantised)
        self.register_buffer('scale', scale.float())
        self.register_buffer('bias', None if bias is None else bias.float())
        self._choice = current_choice()
        self._kernel: Optional[Kernel] = None

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """:meth:`forward` without ``nn.Module``'s overhead, for thousands of calls."""
        return self.forward(x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out], fp32."""
        rows = x.float() if x.dim() == 2 else x.reshape(-1, x.shape[-1]).float()
        kernel = self._kernel or self._taken(len(rows))
        scale, bias = self._buffers['scale'], self._buffers['bias']
        assert scale is not None
        at_once = min(MOST_ROWS, max(1, NUMBERS_AT_ONCE // len(scale)))
        if len(rows) <= at_once:
            out = product(rows, kernel, scale, bias)
        else:
            out = rows.new_empty(len(rows), len(scale))
            for to, some in zip(out.split(at_once), rows.split(at_once), strict=True):
                to.copy_(product(some, kernel, scale, bias))
        return out if x.dim() == 2 else out.view(*x.shape[:-1], -1)

    def _taken(self, rows: int) -> Kernel:
        # Not before the first product: layers may be joined until then.
        assert self.weight is not None
        self._kernel = kernel_for(self.weight, rows, self._choice)
        self.weight = None  # the kernel has them
        return self._kernel


def product(
    rows: torch.Tensor,
    kernel: Kernel,
    scale: torch.Tensor,
    bias: Optional[torch.Tensor],
) -> torch.Tensor:
    """A layer's output [tokens, out] for [tokens, in], by scales and bias [out]."""
    step = token_steps(rows)
    whole = rounded(rows.div(step), kernel.dtype, kernel.zero)
    out = kernel(whole).mul_(step).mul_(scale)
    return out if bias is None else out.add_(bias)


def token_steps(rows: torch.Tensor) -> torch.Tensor:
    """The scale of each token's activations: fp32 [tokens, in] to [tokens, 1]."""
    if rows.numel() <= SMALL:
        largest = rows.abs().amax(1, keepdim=True)
    else:
        largest = torch.maximum(rows.amax(1, keepdim=True), -rows.amin(1, keepdim=True))
    return largest.clamp_(min=SMALLEST_SCALE).div_(INT8_MAX)


def rounded(
    numbers: torch.Tensor, dtype: torch.dtype = torch.int8, zero: int = 0
) -> torch.Tensor:
    """
    Round fp32 numbers in [-128, 127], in place, to int8, uint8 or fp32, as
    ``torch.round``, which wakes all threads even for 2,048 numbers.

    Floats from 2^23 on have no fractional part, so adding such a number rounds, and
    leaves the result in the lowest bits.
    """
    numbers.add_(WHOLE_FROM + zero)
    if dtype == torch.float32:
        return numbers.sub_(WHOLE_FROM)
    return numbers.view(torch.int32).to(dtype)


class SteadyLinear(nn.Module):
    """
    A small float layer, such as a classifier's output layer, whose result does not
    depend on the number of rows. fp32 products of one row and of many are summed in
    different orders; computing in double precision rounds the difference away.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None):
        super().__init__()
        self.register_buffer('weight', weight.detach().clone())
        self.register_buffer('bias', None if bias is None else bias.detach().clone())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., in] to [..., out], fp32."""
        bias = None if self.bias is None else self.bias.double()
        return nn.functional.linear(x.double(), self.weight.double(), bias).float()
