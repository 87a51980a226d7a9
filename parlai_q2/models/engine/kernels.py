"""
Products of int8 matrices that are exact on every processor.

Newer x86 processors multiply and add int8 numbers in one instruction (VNNI). On older
ones, torch adds each pair of products in 16 bits; large sums do not fit and silently
saturate, so that results are slightly wrong on average. On these and on other
processors, the same integers are multiplied in fp32, which is exact as long as every
sum fits into 24 bits. That takes as much time and memory as fp32 weights.
"""

import functools
import platform

import torch

from parlai_q2.models.engine.int8_weights import INT8_MAX

# fp32 represents every integer up to 2^24, and a product of two int8 numbers is at most
# 2^14. So sums of up to this many products are exact, in any order.
EXACT_TERMS = 2 ** (24 - 14)
X86 = ('x86_64', 'AMD64')
# Rows, columns and terms of the test products: with one row, a few and many.
TRIED = ((1, 96, 64), (5, 96, 64), (64, 96, 128))


@functools.cache
def int8_dots() -> bool:
    """
    Whether this processor multiplies int8 matrices fast and exactly.
    """
    if platform.machine() not in X86 or not torch.backends.mkldnn.is_available():
        return False  # torch is exact here, but slower than with fp32
    try:
        return all(exact(*sizes) for sizes in TRIED)
    except (AttributeError, RuntimeError):
        return False


def exact(rows: int, columns: int, terms: int) -> bool:
    """
    Whether the largest possible products are computed correctly.

    :param rows: the number of rows of activations.
    :param columns: the number of rows of weights.
    :param terms: the number of products in each sum.
    """
    largest = torch.full((rows, terms), INT8_MAX, dtype=torch.int8)
    for weight in (INT8_MAX, -INT8_MAX):
        weights = torch.full((columns, terms), weight, dtype=torch.int8)
        if not torch._int_mm(largest, weights.t()).eq(INT8_MAX * weight * terms).all():
            return False
    return True


def for_products(weight: torch.Tensor) -> torch.Tensor:
    """
    Convert a weight to the form that :func:`sums` needs on this processor.

    :param weight: int8 [out, in].
    :return: the same tensor if int8 products are fast and exact, otherwise an fp32
        copy.
    """
    return weight if int8_dots() else weight.float()


def sums(whole: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """
    The product of activations and weights, summed exactly and then converted to fp32.

    :param whole: activations, int8 [tokens, in].
    :param weight: a weight from :func:`for_products`, or rows of it, [out, in].
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
