"""
Estimates the least time the metric could take: the operations of its matrix products,
divided by the rate at which this machine multiplies matrices.

The time it takes beyond that is everything else: quantising, softmax, passes over the
vocabulary, the tokenizers, spaCy, Python.
"""

from collections.abc import Callable
from typing import Any

from parlai_q2.benchmark.clock import timed

# The size of a matrix product in the models' layers, for one batch.
ROWS, DEPTH, COLUMNS = 256, 512, 2048
TRIES = 20


def measure_floor(run: Callable[[], Any], whole_numbers: bool) -> dict[str, float]:
    """
    Count the operations of a run and measure the machine's rate.

    :param run: the run to count; called once, untimed.
    :param whole_numbers: measure the rate of int8 products (where this processor has
        them), else that of fp32 products.
    :return: the number of operations (a multiplication and an addition count as two),
        the rate in operations a second, and the seconds that the operations take at
        that rate.
    """
    operations = float(count_operations(run))
    rate = multiplication_rate(whole_numbers)
    return {'operations': operations, 'rate': rate, 'seconds': operations / rate}


def count_operations(run: Callable[[], Any]) -> int:
    """
    Count the operations of a run's matrix products.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    products: dict[Any, Callable] = {torch.ops.aten._int_mm: product_operations}
    if hasattr(torch.ops.onednn, 'qlinear_pointwise'):
        products[torch.ops.onednn.qlinear_pointwise] = packed_operations
    counter = FlopCounterMode(display=False, custom_mapping=products)
    with counter:
        run()
    return counter.get_total_flops()


def product_operations(one: Any, other: Any, **_: Any) -> int:
    """
    The operations of a matrix product, from the two shapes.
    """
    return 2 * one[0] * one[1] * other[1]


def packed_operations(rows: Any, *_: Any, out_shape: Any, **__: Any) -> int:
    """
    The operations of a product with packed weights, whose own shape is not their size.
    """
    return 2 * rows[0] * rows[1] * out_shape[1]


def multiplication_rate(whole_numbers: bool) -> float:
    """
    The best rate, in operations a second, of a product of the layers' size.
    """
    import torch

    from parlai_q2.models.engine.kernels import int8_dots

    one, other = torch.ones(ROWS, DEPTH), torch.ones(COLUMNS, DEPTH)
    multiply: Callable[..., Any] = torch.mm
    if whole_numbers and int8_dots():
        one, other = one.to(torch.int8), other.to(torch.int8)
        multiply = torch._int_mm
    seconds = min(timed(lambda: multiply(one, other.t()))[0] for _ in range(TRIES))
    return 2 * ROWS * DEPTH * COLUMNS / seconds
