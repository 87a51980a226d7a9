"""
Reads an adapter as a converted model: its base's int8 weights ``W`` and its own
low-rank ``B A`` (Hu et al. 2021, section 4.1) are added in fp32 when the model is
loaded, and rounded to int8 by rows. Biases, norms and the output layer of an adapter
replace those of its base.

``adapter.json`` names the base and, as ``base_sha256``, the SHA-256 of its checksums.
Its ``grid`` says by how much the steps of the sum are longer than they need to be. The
base's weights lie on a grid already: with steps of the same length, terms smaller than
half a step would be rounded away (a quarter of those of ``q2_base``); at 1.1, weights
fall anywhere between two steps.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.io.files import file_sha256
from parlai_q2.models.converted.folder import (
    Converted,
    convert_tensors,
    has_int8,
    is_converted,
    read_folder,
    read_int8_folder,
    read_tensors,
)
from parlai_q2.models.converted.stored import Stored
from parlai_q2.models.folder import (
    CHECKSUMS,
    blaming,
    check_regular,
    has_file,
    read_object,
    verify_checksums,
)
from parlai_q2.models.references import resolve

ADAPTER, WEIGHTS = 'adapter.json', 'adapter.int8.safetensors'
Tensors = dict[str, np.ndarray]


def has_adapter(folder: Path) -> bool:
    """Whether a folder has an adapter instead of a model of its own."""
    return has_file(folder, ADAPTER)


def has_any(folder: Path) -> bool:
    """Whether a folder has a model that :func:`read_any` reads."""
    return is_converted(folder) or has_int8(folder) or has_adapter(folder)


def read_any(folder: Path, expected: str) -> Converted:
    """
    Read a converted model, or make one of int8 weights, or of an adapter and its base.

    :param folder: for which :func:`has_any` is true.
    :param expected: ``ENCODER`` or ``SEQ2SEQ``.
    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    if is_converted(folder):
        return read_folder(folder, expected)
    if has_int8(folder):
        return read_int8_folder(folder, expected)
    tensors, base = merge_folder(folder)
    return convert_tensors(tensors, base, expected, folder / WEIGHTS)


def tokenizer_folder(folder: Path) -> Path:
    """The folder with a model's tokenizer: for an adapter, that of its base."""
    return find_base(folder) if has_adapter(folder) else folder


def find_base(folder: Path) -> Path:
    """
    The folder of the model that an adapter was made for.

    :raises ModelError: if there is none, or it is another version.
    """
    path = folder / ADAPTER
    settings = read_object(path)
    reference = settings.get('base')
    if not isinstance(reference, str):
        raise ModelError(f'{path} must name the "base" of the adapter.')
    base = resolve(reference)
    if not isinstance(base, Path) or not has_int8(base):
        raise ModelError(f'{path}: there is no folder with int8 weights {reference!r}.')
    checksum, listed = settings.get('base_sha256'), base / CHECKSUMS
    if checksum and not (listed.is_file() and file_sha256(listed) == checksum):
        raise ModelError(
            f'{path} was made for another version of {base}: "base_sha256" is not the '
            f'SHA-256 of its {CHECKSUMS}. Reinstall parlai_q2, or train the adapter '
            'again.'
        )
    return base


def merge_folder(folder: Path) -> tuple[Tensors, Path]:
    """
    Merge an adapter with its base.

    :return: the weights in their stored form, and the base's folder.
    :raises ModelError: if a file was changed or is damaged, or the two do not fit.
    """
    from safetensors.numpy import load

    verify_checksums(folder)
    base = find_base(folder)
    verify_checksums(base)
    grid = read_object(folder / ADAPTER).get('grid', 1.0)
    if not isinstance(grid, (int, float)) or not 1 <= grid <= 2:
        raise ModelError(f"{folder / ADAPTER}: 'grid' must be from 1 to 2.")
    path = folder / WEIGHTS
    with blaming(path):
        check_regular(path)
        return merge_weights(read_tensors(base), load(path.read_bytes()), grid), base


def merge_weights(
    base: Mapping[str, np.ndarray], adapter: Mapping[str, np.ndarray], grid: float = 1.0
) -> Tensors:
    """
    Merge weights in their stored form.

    :param adapter: low-rank terms by the names of their layers, and tensors that
        replace those of the base.
    :param grid: how much longer the steps are than they need to be.
    :raises ModelError: if the adapter was made for another base.
    """
    tensors = dict(base)
    for name, tensor in adapter.items():
        if '.lora_' in name:
            continue
        if name not in base or base[name].shape != tensor.shape:
            raise ModelError(f'The adapter does not fit its base: {name}')
        tensors[name] = tensor
    weights, terms = Stored(base), Stored(adapter)
    for layer in sorted({name.rpartition('.lora_')[0] for name in adapter} - {''}):
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
        tensors[f'{name}.q'] = np.rint(total / scale[:, None]).astype(np.int8)
        tensors[f'{name}.s'] = scale.astype(np.float32)
    return tensors
