"""
Batches of examples of similar length, in an order that a seed decides.
"""

import random
from typing import Any, Callable, Iterator, Sequence, TypeVar

import torch

Sample = TypeVar('Sample')
# Examples are sorted by length within blocks of so many batches.
BLOCK = 50


def epoch(
    data: Sequence[Sample],
    size: int,
    rng: random.Random,
    length: Callable[[Sample], int],
) -> list[list[Sample]]:
    """
    One epoch of shuffled batches whose members are of similar length.

    :param data: N examples.
    :param size: examples in a batch, at most.
    :param rng: decides the order; moved on.
    :param length: an example's length.
    :return: batches; each example stands in exactly one.
    """
    shuffled = rng.sample(list(data), len(data))
    out = []
    for start in range(0, len(shuffled), size * BLOCK):
        block = sorted(shuffled[start : start + size * BLOCK], key=length)
        out += [block[i : i + size] for i in range(0, len(block), size)]
    rng.shuffle(out)
    return out


def stream(
    data: Sequence[Sample],
    size: int,
    rng: random.Random,
    length: Callable[[Sample], int],
) -> Iterator[list[Sample]]:
    """
    Epochs without end.

    Skipping n batches of a new stream of the same seed leads to the same place as
    taking them, which is how training goes on after it was stopped.
    """
    while data:
        yield from epoch(data, size, rng, length)


def by_length(
    samples: Sequence[Sample], size: int, length: Callable[[Sample], int]
) -> Iterator[list[int]]:
    """
    The places of samples in batches of similar length, the shortest first.

    :param samples: N examples.
    :param size: examples in a batch, at most.
    :param length: an example's length.
    """
    order = sorted(range(len(samples)), key=lambda i: length(samples[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """
    Lists of ids as one tensor [B, L], padded on the right to the longest.
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])


def moved(tensors: dict[str, Any], device: str) -> dict[str, Any]:
    """
    A batch's tensors on a device.
    """
    return {name: tensor.to(device) for name, tensor in tensors.items()}
