"""
Files of training rows (JSON lines, plain, gzip or xz) and batches of similar length.

A seed decides the order of the batches, and skipping n batches of a new stream leads to
the same place as taking them; a run relies on this to resume.
"""

import gzip
import json
import lzma
import random
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Sequence, TypeVar, Union

import torch

from parlai_q2.errors import InputError
from parlai_q2.evaluate.sets import ALL, BINARY
from parlai_q2.io.write import whole_file

Row = dict[str, Any]
Sample = TypeVar('Sample')
OPENERS: dict[str, Callable] = {'.gz': gzip.open, '.xz': lzma.open}
# Examples are sorted by length within blocks of this many batches.
BLOCK = 50


def read_rows(path: Union[str, Path]) -> list[Row]:
    """The records of a JSON lines file; its ending says how it is compressed."""
    with _opener(path)(path, 'rt', encoding='utf-8') as stream:
        return [json.loads(line) for line in stream if line.strip()]


def read_labelled(path: Union[str, Path], *fields: str) -> list[Row]:
    """
    The examples of a scored file of ``grounded_data`` that are consistent or
    inconsistent and have some fields.

    :raises InputError: when there are none, or those of a corpus are all of one class.
    """
    labels: dict[str, set[str]] = {}
    rows = []
    for row in read_rows(path):
        if row.get('q2_label') in BINARY and {*fields} <= row.keys():
            rows.append(row)
            labels.setdefault(row.get('corpus', ALL), set()).add(row['q2_label'])
    if not rows:
        raise InputError(
            f'{path} has no labelled examples with {", ".join(fields)}. Make it with '
            '"parlai_q2 score" from those of parlai_q2.zoo.train.grounded_data.'
        )
    for corpus, classes in sorted(labels.items()):
        if len(classes) < 2:
            raise InputError(
                f'{path}: all examples of the corpus {corpus!r} are {classes.pop()}. '
                'Each corpus needs both classes; give it examples of the other, or let '
                'it be part of another "corpus".'
            )
    return rows


def write_rows(path: Union[str, Path], rows: Iterable[Row]) -> int:
    """Write records as JSON lines, completely or not at all; returns how many."""
    path, count = Path(path), 0
    with whole_file(path) as unfinished:
        with _opener(path)(unfinished, 'wt', encoding='utf-8') as stream:
            for row in rows:
                stream.write(json.dumps(row, ensure_ascii=False) + '\n')
                count += 1
    return count


def _opener(path: Union[str, Path]) -> Callable:
    return next((o for end, o in OPENERS.items() if str(path).endswith(end)), open)


def epoch(
    data: Sequence[Sample],
    size: int,
    rng: random.Random,
    length: Callable[[Sample], int],
    shuffle: bool = True,
) -> list[list[Sample]]:
    """
    One epoch of shuffled batches whose members are of similar length; each of N
    examples is in one batch.

    :param size: the maximum number of examples in a batch.
    :param rng: decides the order; its state advances.
    :param shuffle: False keeps the order of the blocks in which batches are made.
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
    """Epochs without end; see :func:`epoch`."""
    while data:
        yield from epoch(data, size, rng, length, shuffle)


def by_length(
    samples: Sequence[Sample], size: int, length: Callable[[Sample], int]
) -> Iterator[list[int]]:
    """The places of samples in batches of similar length, the shortest first."""
    order = sorted(range(len(samples)), key=lambda i: length(samples[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    """A tensor [B, L] of lists of ids, padded on the right to the longest."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])


def moved(tensors: dict[str, Any], device: str) -> dict[str, Any]:
    """A batch's tensors on a device."""
    return {name: tensor.to(device) for name, tensor in tensors.items()}
