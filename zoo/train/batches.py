"""
Batches of examples of similar length, in an order that a seed decides.
"""

import random
from typing import Any, Callable, Iterator, Sequence, TypeVar

import torch

Sample = TypeVar('Sample')
# Examples are sorted by length within blocks of this many batches.
BLOCK = 50


def epoch(
    data: Sequence[Sample],
    size: int,
    rng: random.Random,
    length: Callable[[Sample], int],
    shuffle: bool = True,
) -> list[list[Sample]]:
    """
    One epoch of shuffled batches whose members are of similar length.

    :param data: N examples.
    :param size: the maximum number of examples in a batch.
    :param rng: decides the order; its state advances.
    :param length: returns an example's length.
    :param shuffle: False keeps the order of the blocks in which batches are made.
    :return: the batches; each example occurs in exactly one.
    """
    shuffled = rng.sample(list(data), len(data)) if shuffle else data
    out: list[list[Sample]] = []
    for start in range(0, len(shuffled), size * BLOCK):
        block = sorted(shuffled[start : start + size * BLOCK], key=length)
        batches = [block[i : i + size] for i in range(0, len(block), size)]
        if not shuffle:
            rng.shuffle(batches)
        out += batches
    if shuffle:
        rng.shuffle(out)
    return out


def stream(
    data: Sequence[Sample],
    size: int,
    rng: random.Random,
    length: Callable[[Sample], int],
    shuffle: bool = True,
) -> Iterator[list[Sample]]:
    """
    Epochs without end.

    Skipping n batches of a new stream with the same seed leads to the same place as
    taking them. Training relies on this to resume after a stop.
    """
    while data:
        yield from epoch(data, size, rng, length, shuffle)


def by_length(
    samples: Sequence[Sample], size: int, length: Callable[[Sample], int]
) -> Iterator[list[int]]:
    """
    The places of samples in batches of similar length, the shortest first.

    :param samples: N examples.
    :param size: the maximum number of examples in a batch.
    :param length: returns an example's length.
    """
    order = sorted(range(len(samples)), key=lambda i: length(samples[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """
    Make one tensor [B, L] from lists of ids, padded on the right to the longest.
    """
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])


def moved(tensors: dict[str, Any], device: str) -> dict[str, Any]:
    """
    Move a batch's tensors to a device.
    """
    return {name: tensor.to(device) for name, tensor in tensors.items()}
