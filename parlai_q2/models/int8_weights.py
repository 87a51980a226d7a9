"""
Reads and writes row-wise int8 weights, the format of the shipped models: safetensors,
which run no code, in several files if there are more than :data:`PART_BYTES`.

A matrix ``<name>`` is stored as ``<name>.q`` (int8, the matrix's shape) and
``<name>.s`` (one scale per row), with ``w = q * s[:, None]`` (Jacob et al. 2018, arXiv
1712.05877, with zero point 0). Vectors are stored in fp16.
"""

from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save

from parlai_q2.errors import ModelError
from parlai_q2.models.folder import INT8_WEIGHTS

# Hosts of repositories refuse files of 100 MB.
PART_BYTES = 90_000_000
INT8_MAX = 127
# Matrices with up to this many elements (relative position tables) stay in fp16.
SMALLEST_QUANTISED = 4096


def quantise_rows(weight: torch.Tensor) -> dict[str, torch.Tensor]:
    """
    Quantise a float matrix [rows, columns] row by row.

    :return: ``{'q': int8 [rows, columns], 's': fp16 or fp32 [rows]}``.
    """
    weight = weight.float()
    scale = weight.abs().amax(1, keepdim=True).clamp(min=1e-8) / INT8_MAX
    q = (weight / scale).round().clamp(-INT8_MAX, INT8_MAX).to(torch.int8)
    s = scale.squeeze(1)
    # fp16 flushes tiny scales to zero; such rows keep fp32 scales.
    return {'q': q, 's': s if s.min() < 1e-7 else s.half()}


def write_int8(tensors: dict[str, torch.Tensor], path: Path) -> int:
    """Write tensors in their stored form; returns the file's size in bytes."""
    # Not save_file: only the owner can read the files it writes.
    return path.write_bytes(save(tensors))


def stored_form(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors that a file has for a model's ``state_dict()``."""
    tensors = {}
    for name, weight in state.items():
        if weight.ndim == 2 and weight.numel() > SMALLEST_QUANTISED:
            for part, tensor in quantise_rows(weight).items():
                tensors[f'{name}.{part}'] = tensor.contiguous()
        else:
            tensors[name] = weight.half().contiguous()
    return tensors


def in_parts(
    tensors: dict[str, torch.Tensor], most: int = PART_BYTES
) -> dict[str, dict[str, torch.Tensor]]:
    """
    Divide tensors in their stored form among files of at most ``most`` bytes, unless
    one tensor is larger; by the files' names, :data:`INT8_WEIGHTS` first.
    """
    parts: list[dict[str, torch.Tensor]] = [{}]
    size = 0
    for name, tensor in tensors.items():
        size += tensor.nbytes
        if size > most and parts[-1]:
            parts.append({})
            size = tensor.nbytes
        parts[-1][name] = tensor
    return {part_name(n): part for n, part in enumerate(parts, 1)}


def part_name(number: int) -> str:
    """The name of a model's file, numbered from 1."""
    return INT8_WEIGHTS if number == 1 else f'model.int8.{number}.safetensors'


def further_parts(path: Path) -> list[Path]:
    """The files beside a model's first one, in order."""
    found: list[Path] = []
    while (part := path.with_name(part_name(len(found) + 2))).exists():
        found.append(part)
    return found if path.name == INT8_WEIGHTS else []


def read_int8(path: Path) -> dict[str, torch.Tensor]:
    """
    Read tensors as they are stored, from one file or the first of several.

    :return: ``<name>.q`` and ``<name>.s`` of each matrix; vectors by their names.
    :raises ModelError: if a file is missing, truncated or not safetensors.
    """
    found: dict[str, torch.Tensor] = {}
    for part in (path, *further_parts(path)):
        try:
            found.update(load_file(str(part)))
        except (OSError, SafetensorError) as e:
            raise ModelError(
                f'Cannot read the weights in {part}: {e}. The file is missing, '
                'truncated or not a safetensors file; reinstall parlai_q2 or fetch '
                'the file again.'
            ) from e
    return found


def dequantise(stored: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Convert stored tensors to fp32, by name, for ``load_state_dict``."""
    state = {}
    for name, tensor in stored.items():
        if name.endswith('.q'):
            scale = stored[name[:-2] + '.s']
            state[name[:-2]] = tensor.float() * scale.float()[:, None]
        elif not name.endswith('.s'):
            state[name] = tensor.float()
    return state


def load_int8(path: Path) -> dict[str, torch.Tensor]:
    """:func:`read_int8`, converted to fp32."""
    return dequantise(read_int8(path))
