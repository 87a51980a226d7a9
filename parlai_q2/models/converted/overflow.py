"""
Keeps int8 sums within 16 bits, so that they are exact on every processor.

x86 without instructions for int8 dot products (before VNNI) adds the products of two
neighbouring columns in 16 bits, and cuts off what is more. An activation is at most 255
there, so a row of weights of which two neighbours add up to more than 128 gets a
smaller scale. Every processor computes with these weights.
"""

from dataclasses import replace

import numpy as np

from parlai_q2.models.converted import binary
from parlai_q2.models.converted.folder import MODEL, Converted

# 255 * 128 is less than 2 ** 15.
MOST = 128
LARGEST = 127


def within_16_bits(converted: Converted) -> Converted:
    """An encoder with int8 weights whose sums keep within 16 bits."""
    model = binary.read(converted.files[MODEL])
    arrays = dict(model.arrays)
    for name, weight in model.arrays.items():
        # Embeddings are looked up, and multiplied with nothing.
        if not name.endswith('/weight') or '/embeddings' in name:
            continue
        if weight.dtype in (np.float32, np.float16):
            weight = weight.astype(np.float32)
            largest = np.abs(weight).max(1)
            scale = LARGEST / np.where(largest > 0, largest, 1)
            weight = weight * scale[:, None]
        elif weight.dtype == np.int8:
            scale = np.asarray(model[f'{name}_scale'], np.float32)
        else:
            continue
        smaller = np.minimum(1, (MOST - 1) / most_of_neighbours(weight))
        smaller = smaller.astype(np.float32)
        arrays[name] = np.rint(weight * smaller[:, None]).astype(np.int8)
        arrays[f'{name}_scale'] = (scale * smaller).astype(np.float32)
    files = {**converted.files, MODEL: binary.write(replace(model, arrays=arrays))}
    return replace(converted, files=files)


def most_of_neighbours(weight: np.ndarray) -> np.ndarray:
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
    return np.maximum(np.maximum(above.max(1), -below.min(1)), 1)
