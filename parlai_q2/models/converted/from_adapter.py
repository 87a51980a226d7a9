"""
An adapter as a converted model: its base's int8 weights ``W`` and its own low-rank
``B A`` (Hu et al. 2021, section 4.1) are added in fp32 as the model is loaded, and
rounded to int8 by rows as all converted models are. Biases, norms and the output layer
of an adapter replace those of its base.

``adapter.json`` names the base and, as ``base_sha256``, the SHA-256 of its checksums.

The base's weights lie on a grid already. Terms that are smaller than half a step of it
would be rounded away on the same grid, so ``grid`` says by how much the steps of the
sum are longer: at 1.1, weights fall anywhere between two steps, and nothing is lost of
a term but by chance (at 1, a quarter of ``q2_base``'s).
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.base import folder_of_base
from parlai_q2.models.converted.folder import Converted
from parlai_q2.models.converted.from_int8 import converted_of, has_int8, read_tensors
from parlai_q2.models.converted.layout import Stored
from parlai_q2.models.folder import (
    blaming,
    check_regular,
    has_file,
    read_object,
    verify_checksums,
)

ADAPTER, WEIGHTS = 'adapter.json', 'adapter.int8.safetensors'
GRID = 'grid'
Tensors = dict[str, np.ndarray]


def has_adapter(folder: Path) -> bool:
    """Whether a folder has an adapter instead of a model of its own."""
    return has_file(folder, ADAPTER)


def base_folder(folder: Path) -> Path:
    """
    The folder of the model that an adapter was made for.

    :raises ModelError: if there is none, or it is not as it was then.
    """
    return folder_of_base(
        folder / ADAPTER, 'folder with int8 weights', has_int8, required=False
    )


def merged_folder(folder: Path) -> tuple[Tensors, Path]:
    """
    The weights of an adapter's base with the adapter, and the base's folder.

    :raises ModelError: when a file was changed or damaged, or the two do not fit.
    """
    verify_checksums(folder)
    base = base_folder(folder)
    verify_checksums(base)
    grid = read_object(folder / ADAPTER).get(GRID, 1.0)
    if not isinstance(grid, (int, float)) or not 1 <= grid <= 2:
        raise ModelError(f'{folder / ADAPTER}: {GRID!r} must be from 1 to 2.')
    with blaming(folder / WEIGHTS):
        return merged(read_tensors(base), _read(folder / WEIGHTS), grid), base


def read_adapter_folder(folder: Path, wanted: str) -> Converted:
    """
    Read, verify and check an adapter and its base.

    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    tensors, base = merged_folder(folder)
    return converted_of(tensors, base, wanted, folder / WEIGHTS)


def merged(
    base: Mapping[str, np.ndarray], adapter: Mapping[str, np.ndarray], grid: float = 1.0
) -> Tensors:
    """
    The weights of a base with its adapter, both in their stored form: matrices in int8
    (``.q``) with a scale for each of their rows (``.s``), small ones as they are.

    :param adapter: low-rank terms by the names of their layers, and tensors that
        replace those of the base.
    :param grid: how much longer the steps are than they need to be.
    :raises ModelError: if the adapter was made for another base.
    """
    tensors = dict(base)
    replaced = {n: tensor for n, tensor in adapter.items() if '.lora_' not in n}
    for name, tensor in replaced.items():
        if name not in base or base[name].shape != tensor.shape:
            raise ModelError(f'The adapter does not fit its base: {name}')
    tensors.update(replaced)
    weights, terms = Stored(base), Stored(adapter)
    for layer in sorted({n.rpartition('.lora_')[0] for n in adapter} - {''}):
        name = f'{layer}.weight'
        try:
            term = terms.whole(f'{layer}.lora_b') @ terms.whole(f'{layer}.lora_a')
            total = weights.whole(name) + term
        except ValueError as e:
            raise ModelError(f'The adapter does not fit its base: {layer}: {e}') from e
        if name in base:  # too small to be stored in int8
            tensors[name] = total
            continue
        scale = np.abs(total).max(axis=1) / 127 * grid
        scale[scale == 0] = 1
        rounded = np.rint(total / scale[:, None]).astype(np.int8)
        tensors[f'{name}.q'], tensors[f'{name}.s'] = rounded, scale.astype(np.float32)
    return tensors


def _read(path: Path) -> Tensors:
    from safetensors.numpy import load

    check_regular(path)
    return load(path.read_bytes())
