"""
Exact products of int8 matrices, by the kernel that is fastest on this processor.

All give the same integers, so the choice never changes a score. Without int8 dot
products (VNNI), torch cuts off large sums in silence or falls back to a plain loop;
there the same integers are multiplied in fp32, exactly while a sum fits into 24 bits.
A kernel is chosen by a trial of some milliseconds, for each shape of weights and for
few and for many rows, which :data:`ENVIRONMENT`, or ``kernel`` in a preset, limits.
"""

import logging
import os
import time
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Iterator, Sequence

import torch

from parlai_q2.errors import ConfigError
from parlai_q2.models.engine import TAKEN
from parlai_q2.models.engine.int8_weights import INT8_MAX

# fp32 represents every integer up to 2^24, and a product of two int8 numbers is at most
# 2^14. So sums of up to this many products are exact, in any order.
EXACT_TERMS = 2 ** (24 - 14)
AUTO, INT8, FLOAT32 = 'auto', 'int8', 'float32'
CHOICES = (AUTO, INT8, FLOAT32)
ENVIRONMENT = 'PARLAI_Q2_KERNEL'
# Rows of a trial: products with at most the first number are tried with it alone.
FEW_ROWS, MANY_ROWS = 8, 32
# Columns of a trial, at most: too many for the CPU's cache, as in wide layers.
MOST_COLUMNS = 8192
TRIES, ENOUGH_SECONDS = 5, 0.02  # two tries at least
# A kernel that takes this many times as long as another is not tried again.
HOPELESS = 3.0
TRIED_COLUMNS = 96  # of the products that are looked at
# What kernels raise that this torch or this processor does not have.
LACKING = (AttributeError, RuntimeError, TypeError, ValueError)

logger = logging.getLogger(__name__)


class Kernel:
    """Multiplies activations by one matrix of weights, int8 [out, in]."""

    name: ClassVar[str]
    arithmetic: ClassVar[str] = INT8
    # Activations are given in this type, with this number added to each.
    dtype: ClassVar[torch.dtype] = torch.int8
    zero: ClassVar[int] = 0

    def __init__(self, weight: torch.Tensor):
        self.weight = weight

    def __call__(self, whole: torch.Tensor) -> torch.Tensor:
        """
        The sums of products, fp32 [tokens, out], rounded only where they exceed 2^24,
        for activations [tokens, in] as :attr:`dtype` and :attr:`zero` say.
        """
        raise NotImplementedError


class IntMm(Kernel):
    """torch's int8 product, which rearranges the weights at every call."""

    name = 'int_mm'

    def __call__(self, whole: torch.Tensor) -> torch.Tensor:
        return torch._int_mm(whole, self.weight.t()).float()


class OneDnnInt8(Kernel):
    """
    oneDNN's int8 product, with the weights rearranged once. oneDNN needs unsigned
    activations: with signed ones, it silently uses a loop.
    """

    name = 'onednn_int8'
    dtype, zero = torch.uint8, 128

    def __init__(self, weight: torch.Tensor):
        if weight.shape[1] > EXACT_TERMS:
            raise ValueError('more terms than are exact')
        self.packed = torch.ops.onednn.qlinear_prepack(weight, None)
        self.ones = torch.ones(len(weight), dtype=torch.float32)
        self.zeros = torch.zeros(len(weight), dtype=torch.long)

    def __call__(self, whole: torch.Tensor) -> torch.Tensor:
        return torch.ops.onednn.qlinear_pointwise(
            whole,
            1.0,  # the scale of the input
            self.zero,
            self.packed,
            self.ones,
            self.zeros,
            None,  # no bias
            1.0,  # the scale of the output, and its zero point
            0,
            torch.float32,
            'none',  # no operation on the output
            [],
            '',
        )


class Float32(Kernel):
    """The product in fp32, a thousand terms at a time. torch has it everywhere."""

    name, arithmetic, dtype = 'float32', FLOAT32, torch.float32

    def __init__(self, weight: torch.Tensor):
        self.parts = [self.prepare(p) for p in weight.float().split(EXACT_TERMS, 1)]

    @staticmethod
    def prepare(part: torch.Tensor) -> torch.Tensor:
        return part.t()

    @staticmethod
    def multiply(rows: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        return rows @ part

    def __call__(self, whole: torch.Tensor) -> torch.Tensor:
        rows = whole.split(EXACT_TERMS, 1)
        products = map(self.multiply, rows, self.parts)
        total = next(products)
        if len(rows) > 2:  # fp32 would round more than once
            total = total.double()
        for product in products:
            total += product
        return total.float()


class OneDnnFloat32(Float32):
    """oneDNN's product in fp32, with the weights rearranged once."""

    name = 'onednn_float32'

    @staticmethod
    def prepare(part: torch.Tensor) -> torch.Tensor:
        return torch.ops.mkldnn._reorder_linear_weight(part.contiguous(), None)

    @staticmethod
    def multiply(rows: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        return torch.ops.mkldnn._linear_pointwise(
            rows.contiguous(), part, None, 'none', [], ''
        )


KERNELS: tuple[type[Kernel], ...] = (IntMm, OneDnnInt8, OneDnnFloat32, Float32)
_choice: ContextVar[str] = ContextVar('kernel', default=AUTO)


@contextmanager
def limited_to(choice: str) -> Iterator[None]:
    """Limit the kernels of layers that are created meanwhile to one of CHOICES."""
    before = _choice.set(checked(choice, '"kernel" in a preset'))
    try:
        yield
    finally:
        _choice.reset(before)


def current_choice() -> str:
    """What the environment says, or otherwise the preset."""
    return checked(os.environ.get(ENVIRONMENT) or _choice.get(), ENVIRONMENT)


def checked(choice: Any, where: str) -> str:
    """The choice; a ConfigError that says where it is from if it is none of CHOICES."""
    if choice not in CHOICES:
        raise ConfigError(f'{where} is one of {", ".join(CHOICES)}, not {choice!r}.')
    return choice


def kernel_for(weight: torch.Tensor, rows: int, choice: str = AUTO) -> Kernel:
    """
    The fastest exact kernel for a weight, int8 [out, in], and a number of rows.

    :param choice: one of :data:`CHOICES`.
    :raises ConfigError: if the choice is int8 and no int8 kernel is exact here.
    """
    tried = FEW_ROWS if rows <= FEW_ROWS else MANY_ROWS
    columns, terms = weight.shape
    key = choice, columns, terms, tried
    # Layers may be created under inference mode, and used outside it.
    with torch.inference_mode(False), torch.no_grad():
        if key not in TAKEN:
            allowed = [k for k in KERNELS if choice in (AUTO, k.arithmetic)]
            TAKEN[key] = fastest(allowed, columns, terms, tried).name
        kind = next(k for k in KERNELS if k.name == TAKEN[key])
        return kind(weight)


def fastest(
    kinds: Sequence[type[Kernel]], columns: int, terms: int, rows: int
) -> type[Kernel]:
    """
    The fastest of those kernels that are exact, by a trial. They take turns and the
    best of several tries counts, so that other work on the machine does not decide.

    :param rows: :data:`FEW_ROWS` or :data:`MANY_ROWS`.
    :raises ConfigError: if none of them is exact.
    """
    kinds = [kind for kind in kinds if exact(kind, terms)]
    if not kinds:
        raise ConfigError(
            'No int8 kernel computes exactly on this processor with this torch. Set '
            f'{ENVIRONMENT}, or "kernel" in the preset, to {AUTO}.'
        )
    weight = extremes(min(columns, MOST_COLUMNS), terms)
    running = [kind(weight) for kind in kinds]
    best: dict[Kernel, float] = {}
    # Few rows first, so that a kernel that is a plain loop is soon known.
    for size in sorted({FEW_ROWS, rows}):
        best = dict.fromkeys(running, float('inf'))
        whole = {kernel: given(extremes(size, terms), kernel) for kernel in running}
        begun = time.perf_counter()
        for n in range(TRIES):
            for kernel in running:
                start = time.perf_counter()
                kernel(whole[kernel])
                best[kernel] = min(best[kernel], time.perf_counter() - start)
            limit = HOPELESS * min(best.values())
            running = [kernel for kernel in running if best[kernel] <= limit]
            if n and time.perf_counter() - begun > ENOUGH_SECONDS:
                break
    taken = min(running, key=lambda kernel: best[kernel])
    logger.debug('%d x %d, %d rows: %s', columns, terms, rows, taken.name)
    return type(taken)


def exact(kind: type[Kernel], terms: int) -> bool:
    """Whether this processor has a kernel, and the largest products are exact."""
    weight = extremes(TRIED_COLUMNS, terms)
    try:
        kernel = kind(weight)
        for rows in (1, 5, MANY_ROWS):
            whole = extremes(rows, terms)
            right = (whole.double() @ weight.double().t()).float()
            if not torch.equal(kernel(given(whole, kernel)), right):
                return False
    except LACKING:
        return False
    return True


def extremes(rows: int, terms: int) -> torch.Tensor:
    """
    A matrix, int8 [rows, terms], whose products with another are the largest possible
    ones and, in every third row, ordinary ones.
    """
    matrix = torch.full((rows, terms), INT8_MAX, dtype=torch.int8)
    matrix[1::3] *= -1
    ordinary = matrix[2::3]
    numbers = torch.arange(ordinary.numel()).mul_(37).remainder_(2 * INT8_MAX + 1)
    ordinary.copy_(numbers.sub_(INT8_MAX).view_as(ordinary))
    return matrix


def given(whole: torch.Tensor, kernel: Kernel) -> torch.Tensor:
    """int8 activations in the form that a kernel reads."""
    return whole.short().add_(kernel.zero).to(kernel.dtype)
