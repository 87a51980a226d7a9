"""
Opens converted models with CTranslate2, on as many cores as this process may use.

A worker computes on one thread, and there are as many workers as cores: a few large
calls side by side are faster than one call on all cores, and what an input gives does
not depend on their number.

The int8 sums of encoders keep within 16 bits, so that they are exact on every
processor. x86 without instructions for int8 dot products (before VNNI) adds the
products of two neighbouring columns in 16 bits, and cuts off the rest. An activation is
at most 255 there, so a row of weights of which two neighbours add up to more than 128
gets a smaller scale.
"""

import logging
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.converted.binary import Model
from parlai_q2.models.converted.folder import Converted
from parlai_q2.models.device import is_cpu
from parlai_q2.models.gpu import load_cublas
from parlai_q2.threads import cores, keep_freed_memory

_logger = logging.getLogger(__name__)
# 255 * 128 is less than 2 ** 15.
MAX_NEIGHBOURS = 128
MAX_INT8 = 127


class ComputeType(Word):
    """What converted models compute in."""

    AUTO = 'auto'  # what suits the device
    INT8 = 'int8'
    FLOAT16 = 'float16'
    FLOAT32 = 'float32'


@cache
def effective_type(
    compute_type: str, device: str, on_gpu: str = ComputeType.FLOAT16
) -> str:
    """
    What a converted model computes in on a device, unless it is told: on a CPU int8.

    :param on_gpu: what suits the model on a GPU.
    :raises ConfigError: if it is not one of :class:`ComputeType`.
    """
    ComputeType.check('compute_type', compute_type)
    if compute_type == ComputeType.AUTO:
        compute_type = ComputeType.INT8 if is_cpu(device) else on_gpu
    if compute_type not in _supported(device):
        # Once for each device and type: the result is kept.
        _logger.warning(
            'This machine cannot compute in %s on %s; it computes in float32.',
            compute_type,
            device,
        )
        return ComputeType.FLOAT32
    return compute_type


def can_use(device: str) -> bool:
    """Whether the library can compute on a device."""
    kind, _, number = device.partition(':')
    if kind != 'cuda':
        return kind == 'cpu'
    import ctranslate2

    return bool(int(number or 0) < ctranslate2.get_cuda_device_count())


def _supported(device: str) -> set[str]:
    import ctranslate2

    kind, _, number = device.partition(':')
    try:
        types: set[str] = ctranslate2.get_supported_compute_types(
            kind, int(number or 0)
        )
        return types
    except (RuntimeError, ValueError) as e:
        raise no_device(device, e) from e


def no_device(device: str, cause: Exception) -> ConfigError:
    """The error for a device that the library cannot use."""
    reason = ' '.join(str(cause).split())
    return ConfigError(
        f'CTranslate2, which runs the shipped models, cannot use {device!r}: {reason}. '
        'Give --scorer-device cpu, or see docs/performance.md.'
    )


def open_model(
    kind: str, converted: Converted, device: str, compute_type: str, workers: int
) -> Any:
    """
    Load a model.

    :param kind: the class of the library, ``Encoder`` or ``Translator``.
    :param compute_type: one that the device has.
    :param workers: how many calls are computed at once.
    :raises ModelError: if the library refuses the model.
    """
    import ctranslate2

    if is_cpu(device):
        keep_freed_memory()
    else:
        load_cublas()
    name, _, number = device.partition(':')
    try:
        return getattr(ctranslate2, kind)(
            str(converted.place),
            name,
            device_index=int(number or 0),
            compute_type=str(compute_type),
            inter_threads=workers,
            intra_threads=1,
            max_queued_batches=-1,
            files=converted.files(),
        )
    except (RuntimeError, ValueError, TypeError) as e:
        if not is_cpu(device):
            raise no_device(device, e) from e
        reason = ' '.join(str(e).split())
        raise ModelError(f'CTranslate2 cannot load {converted.place}: {reason}') from e


def most_at_once(batch_size: int, device: str, compute_type: str) -> int:
    """The most inputs in a call. In fp32, sums of a CPU depend on it in last bits."""
    return 1 if is_cpu(device) and compute_type == ComputeType.FLOAT32 else batch_size


def workers_for(device: str) -> int:
    """How many calls are computed at once on a device."""
    return cores() if is_cpu(device) else 1


def fit_16_bits(model: Model) -> Model:
    """An encoder with int8 weights whose sums keep within 16 bits."""
    arrays = dict(model.arrays)
    for name, weight in model.arrays.items():
        # Embeddings are only looked up.
        if not name.endswith('/weight') or '/embeddings' in name:
            continue
        if weight.dtype in (np.float32, np.float16):
            weight = weight.astype(np.float32)
            largest = np.abs(weight).max(1)
            scale = MAX_INT8 / np.where(largest > 0, largest, 1)
            weight = weight * scale[:, None]
        elif weight.dtype == np.int8:
            scale = np.asarray(model[f'{name}_scale'], np.float32)
        else:
            continue
        factor = np.minimum(1, (MAX_NEIGHBOURS - 1) / max_neighbour_sum(weight))
        factor = factor.astype(np.float32)
        arrays[name] = np.rint(weight * factor[:, None]).astype(np.int8)
        arrays[f'{name}_scale'] = (scale * factor).astype(np.float32)
    return replace(model, arrays=arrays)


def max_neighbour_sum(weight: np.ndarray) -> np.ndarray:
    """
    What a row's columns 2i and 2i + 1 add up to at most, those of one sign, as they may
    be multiplied with 0.

    :param weight: [rows, columns], of any numbers.
    :return: [rows], at least 1.
    """
    if weight.shape[1] % 2:
        weight = np.pad(weight, ((0, 0), (0, 1)))
    wide = np.int16 if weight.dtype == np.int8 else np.float32
    first, second = weight[:, ::2].astype(wide), weight[:, 1::2].astype(wide)
    above = np.maximum(first, 0) + np.maximum(second, 0)
    below = np.minimum(first, 0) + np.minimum(second, 0)
    largest: np.ndarray = np.maximum(np.maximum(above.max(1), -below.min(1)), 1)
    return largest
