"""
Writes the difference between a trained model and its base as an adapter, which is much
smaller than the model:

    python -m parlai_q2.zoo.train.write_adapter TRAINED BASE OUT --rank 128

TRAINED is a transformers folder, BASE a folder with int8 weights, such as
``shipped:q2_base/detector``. The difference between two matrices is stored as the
product of two of low rank, its best approximation (Eckart and Young 1936), in int8.
"""

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from parlai_q2.io.files import file_sha256
from parlai_q2.models.converted.convert import quantised, read_weights
from parlai_q2.models.converted.reader import (
    ADAPTER,
    ADAPTER_WEIGHTS,
    CONFIG_FILE,
    Tensors,
    read_tensors,
)
from parlai_q2.models.converted.weights import read_whole
from parlai_q2.models.model_files import CHECKSUMS, resolve, write_checksums

# See parlai_q2.models.converted.reader.
GRID = 1.1


def low_rank_terms(difference: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """
    The matrices B [outputs, rank] and A [rank, inputs] whose product is nearest to a
    matrix [outputs, inputs].
    """
    left, sizes, right = np.linalg.svd(difference, full_matrices=False)
    roots = np.sqrt(sizes[:rank])
    return left[:, :rank] * roots, roots[:, None] * right[:rank]


def adapter_of(state: Tensors, base: Tensors, rank: int) -> Tensors:
    """The tensors of an adapter that turns a base's weights into others."""
    adapter: Tensors = {}
    for name, weight in state.items():
        if f'{name}.q' not in base:
            if name not in base or not np.array_equal(base[name], weight):
                adapter[name] = weight.astype(np.float16)
            continue
        difference = weight - read_whole(base, name)
        layer = name.removesuffix('.weight')
        if not np.abs(difference).max():
            continue
        b, a = low_rank_terms(difference, rank)
        parts = quantised({f'{layer}.lora_a': a, f'{layer}.lora_b': b})
        for part, tensor in parts.items():
            is_scale = part.endswith('.s')
            adapter[part] = tensor.astype(np.float16) if is_scale else tensor
    return adapter


def write_adapter(trained: Path, base: str, out: Path, rank: int) -> int:
    """Write an adapter and return the size of its weights in bytes."""
    folder = Path(resolve(base))
    state = read_weights(trained, in_int8=False)
    out.mkdir(parents=True, exist_ok=True)
    save_file(adapter_of(state, read_tensors(folder), rank), out / ADAPTER_WEIGHTS)
    shutil.copyfile(trained / CONFIG_FILE, out / CONFIG_FILE)
    settings = {
        'base': base,
        'base_sha256': file_sha256(folder / CHECKSUMS),
        'rank': rank,
        'grid': GRID,
    }
    (out / ADAPTER).write_text(json.dumps(settings, indent=1) + '\n')
    write_checksums(out, sorted((ADAPTER, ADAPTER_WEIGHTS, CONFIG_FILE)))
    return (out / ADAPTER_WEIGHTS).stat().st_size


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description='Writes an adapter')
    parser.add_argument('trained', type=Path)
    parser.add_argument('base')
    parser.add_argument('out', type=Path)
    parser.add_argument('--rank', type=int, default=128)
    args = parser.parse_args(argv)
    size = write_adapter(args.trained, args.base, args.out, args.rank)
    print(f'{args.out / ADAPTER_WEIGHTS} has {size} bytes')


if __name__ == '__main__':
    main()
