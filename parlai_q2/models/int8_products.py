"""
Products of int8 matrices, exact on every processor.

Newer x86 processors multiply and add int8 numbers in one instruction (VNNI). On older
ones torch adds each two products in 16 bits, where large ones do not fit and are cut
off without a word: sums are then wrong, by a little on average. Where that happens, and
on other processors, the same whole numbers are multiplied in fp32, which is exact as
long as no sum leaves 24 bits. Such processors take as long, and as much memory, as fp32
weights do.
"""

import functools
import platform

import torch

from parlai_q2.models.int8 import INT8_MAX

# fp32 holds every whole number up to 2^24, and a product of two int8 numbers is at most
# 2^14: it holds every sum of so many, in whatever order it is made.
EXACT_TERMS = 2 ** (24 - 14)
X86 = ('x86_64', 'AMD64')
# Rows, columns and terms of the products that are tried: of one row, of few, of many.
TRIED = ((1, 96, 64), (5, 96, 64), (64, 96, 128))


@functools.cache
def int8_dots() -> bool:
    """
    Whether this processor multiplies int8 matrices fast and without an error.
    """
    if platform.machine() not in X86 or not torch.backends.mkldnn.is_available():
        return False  # torch has an exact loop for these, slower than fp32
    try:
        return all(exact(*sizes) for sizes in TRIED)
    except (AttributeError, RuntimeError):
        return False


def exact(rows: int, columns: int, terms: int) -> bool:
    """
    Whether the largest products there are come out right.

    :param rows: of activations.
    :param columns: of weights.
    :param terms: of each sum.
    """
    largest = torch.full((rows, terms), INT8_MAX, dtype=torch.int8)
    for weight in (INT8_MAX, -INT8_MAX):
        weights = torch.full((columns, terms), weight, dtype=torch.int8)
        if not torch._int_mm(largest, weights.t()).eq(INT8_MAX * weight * terms).all():
            return False
    return True


def for_products(weight: torch.Tensor) -> torch.Tensor:
    """
    A weight as :func:`sums` wants it on this processor.

    :param weight: int8 [out, in].
    :return: the same where int8 products are exact, else a copy in fp32.
    """
    return weight if int8_dots() else weight.float()


def sums(whole: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """
    The product of activations and weights, summed exactly and then made fp32.

    :param whole: activations, int8 [tokens, in].
    :param weight: what :func:`for_products` gave, or rows of it, [out, in].
    :return: fp32 [tokens, out].
    """
    if weight.dtype == torch.int8:
        return torch._int_mm(whole, weight.t()).float()
    rows = whole.float()
    if rows.shape[1] <= EXACT_TERMS:
        return rows @ weight.t()
    parts = zip(rows.split(EXACT_TERMS, 1), weight.split(EXACT_TERMS, 1), strict=True)
    total = rows.new_zeros(len(rows), len(weight), dtype=torch.float64)
    for some, of_weight in parts:
        total += some @ of_weight.t()
    return total.float()
