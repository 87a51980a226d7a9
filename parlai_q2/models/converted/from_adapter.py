"""
An adapter as a converted model: its base's int8 weights ``W`` and its own low-rank
``B A`` (Hu et al. 2021, section 4.1) are added in fp32 as the model is loaded, and
rounded to int8 by rows as all converted models are.

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
from parlai_q2.models.folder import blaming, has_file, read_object, verify_checksums

ADAPTER, WEIGHTS = 'adapter.json', 'adapter.int8.safetensors'
GRID = 'grid'
Stored = Mapping[str, np.ndarray]
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


def merged(base: Stored, adapter: Stored, grid: float = 1.0) -> Tensors:
    """
    The weights of a base with its adapter, both in their stored form: matrices in int8
    (``.q``) with a scale for each of their rows (``.s``), small ones as they are.

    :param grid: how much longer the steps are than they need to be.
    :raises ModelError: when the adapter was made for another base.
    """
    found = dict(base)
    layers = {n.rpartition('.lora_')[0] for n in adapter if '.lora_' in n}
    for layer in sorted(layers):
        weight = f'{layer}.weight'
        down, up = (_whole(adapter, f'{layer}.lora_{part}') for part in 'ab')
        try:
            whole = _whole(base, weight) + up @ down
        except (KeyError, ValueError) as e:
            raise ModelError(f'The adapter does not fit its base: {layer}: {e}') from e
        if weight in base:  # too small to be stored in int8
            found[weight] = whole
            continue
        scale = np.abs(whole).max(axis=1) / 127 * grid
        scale[scale == 0] = 1
        rounded = np.rint(whole / scale[:, None]).astype(np.int8)
        found[f'{weight}.q'], found[f'{weight}.s'] = rounded, scale.astype(np.float32)
    return found


def _whole(tensors: Stored, name: str) -> np.ndarray:
    if name in tensors:
        return tensors[name].astype(np.float32)
    scale = tensors[f'{name}.s'].astype(np.float32)
    return tensors[f'{name}.q'].astype(np.float32) * scale[:, None]


def _read(path: Path) -> Tensors:
    from safetensors.numpy import load

    return load(path.read_bytes())
