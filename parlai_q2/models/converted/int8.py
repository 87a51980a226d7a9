"""
Rescales the int8 weights of encoders, so that their sums keep within 16 bits and are
exact on every processor.

x86 without instructions for int8 dot products (before VNNI) adds the products of two
neighbouring columns in 16 bits, and cuts off the rest. An activation is at most 255
there, so a row of weights of which two neighbours add up to more than 128 gets a
smaller scale.
"""

from dataclasses import replace

import numpy as np

from parlai_q2.models.converted.binary import Model

# 255 * 128 is less than 2 ** 15.
MAX_NEIGHBOURS = 128
MAX_INT8 = 127


def fit_16_bits(model: Model) -> Model:
    """Rescale the int8 weights of an encoder, so that its sums keep within 16 bits."""
    arrays = dict(model.arrays)
    for name, weight in model.arrays.items():
        # Embeddings are looked up, not multiplied.
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
    The largest sum of columns 2i and 2i + 1 in each row. Only weights of one sign are
    added: an activation of 0 may cancel the other one.

    :param weight: [rows, columns], of any numbers.
    :return: [rows], at least 1.
    """
    if weight.shape[1] % 2:
        weight = np.pad(weight, ((0, 0), (0, 1)))
    wide = np.int16 if weight.dtype == np.int8 else np.float32
    even, odd = weight[:, ::2].astype(wide), weight[:, 1::2].astype(wide)
    positive = np.maximum(even, 0) + np.maximum(odd, 0)
    negative = np.minimum(even, 0) + np.minimum(odd, 0)
    sums: np.ndarray = np.maximum(np.maximum(positive.max(1), -negative.min(1)), 1)
    return sums
