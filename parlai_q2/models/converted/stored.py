"""Weights in their stored form: floats, or int8 matrices with a scale for each row."""

from collections.abc import Mapping, Sequence

import numpy as np

Tensors = Mapping[str, np.ndarray]


class Stored:
    """Tensors in their stored form, by name; a missing one is a ValueError."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors

    def whole(self, name: str) -> np.ndarray:
        """A vector or matrix in fp32."""
        if name in self.tensors:
            return np.asarray(self.tensors[name], np.float32)
        quantised, scale = self._get(f'{name}.q'), self._get(f'{name}.s')
        return quantised.astype(np.float32) * scale.astype(np.float32)[:, None]

    def matrix(
        self, names: Sequence[str], rows: Sequence[int] | None = None
    ) -> dict[str, np.ndarray]:
        """Matrices one below another: ``weight`` and, if in int8, ``weight_scale``."""
        if all(f'{name}.q' in self.tensors for name in names):
            scale = np.concatenate([self._get(f'{name}.s') for name in names])
            arrays = {
                'weight': np.concatenate([self._get(f'{name}.q') for name in names]),
                'weight_scale': np.float32(1) / scale.astype(np.float32),
            }
        else:
            arrays = {'weight': np.concatenate([self.whole(name) for name in names])}
        if rows is not None:
            arrays = {name: array[list(rows)] for name, array in arrays.items()}
        return arrays

    def _get(self, name: str) -> np.ndarray:
        if name not in self.tensors:
            raise ValueError(f'{name} is missing')
        return self.tensors[name]
