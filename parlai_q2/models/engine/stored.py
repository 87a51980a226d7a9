"""
Builds the layers of a model directly from a folder with int8 weights: transformers'
model classes take longer to import than the weights take to load.
"""

import math
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import torch

from parlai_q2.errors import ModelError
from parlai_q2.models.engine.int8_linear import Int8Linear, SteadyLinear
from parlai_q2.models.engine.int8_weights import INT8_WEIGHTS, read_int8
from parlai_q2.models.folder import folder_config, verify_checksums

if TYPE_CHECKING:
    from transformers import PretrainedConfig


class Embedding:
    """
    An embedding table whose rows are converted to fp32 only when they are looked up.

    :param table: [rows, width], int8 or float.
    :param scale: one scale per row of an int8 table, [rows]; None for a float table.
    """

    def __init__(self, table: torch.Tensor, scale: Optional[torch.Tensor] = None):
        self.table = table if scale is not None else table.float()
        self.scale = None if scale is None else scale.float()

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Look up rows: [...] to [..., width], fp32."""
        rows = self.table[ids]
        if self.scale is None:
            return rows
        return rows.float().mul_(self.scale[ids][..., None])


class PositionBias:
    """
    The attention bias for the distance of two tokens (Raffel et al. 2020, section 2.1).
    Each near distance has its own bucket; far ones share log-spaced buckets.

    :param table: the biases of all heads, [buckets, H].
    :param both: whether keys after and before the query have buckets of their own.
    """

    def __init__(
        self, table: Embedding, buckets: int, farthest: int, both: bool = True
    ):
        self.table, self.both = table, both
        self.buckets, self.farthest = buckets, farthest

    def __call__(self, queries: int, keys: int) -> torch.Tensor:
        """The bias of each query and key, [1, H, queries, keys]."""
        distance = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
        return self.table(self.bucket(distance)).permute(2, 0, 1)[None]

    def bucket(self, distance: torch.Tensor) -> torch.Tensor:
        """
        The bucket of each distance of a key from its query, in tokens. In a decoder,
        keys after the query count as distance 0.
        """
        buckets, first = self.buckets, torch.zeros_like(distance)
        if self.both:
            buckets //= 2
            first = (distance > 0).long() * buckets
            distance = distance.abs()
        else:
            distance = -distance.clamp(max=0)
        near = buckets // 2
        ratio = torch.log(distance.float() / near) / math.log(self.farthest / near)
        far = near + (ratio * (buckets - near)).long()
        far = far.clamp(max=buckets - 1)
        return first + torch.where(distance < near, distance, far)


class StoredModel:
    """
    The configuration and weights of a folder with ``config.json`` and int8 weights.

    :raises ModelError: if a file was changed or cannot be read.
    """

    def __init__(self, folder: Path):
        verify_checksums(folder)
        self.folder, self.path = folder, folder / INT8_WEIGHTS
        self.config: PretrainedConfig = folder_config(folder)

    @cached_property
    def tensors(self) -> dict[str, torch.Tensor]:
        """The stored tensors by name."""
        return read_int8(self.path)

    def linear(self, *names: str, out: int, into: int, bias: bool = True) -> Any:
        """
        A linear layer from [..., into] to [..., names * out], of weights by their names
        without ``.weight``: several give their outputs side by side.
        """
        biases = [self.vector(f'{n}.bias', out) for n in names] if bias else []
        joined = together(biases) if biases else None
        weights = [f'{name}.weight' for name in names]
        if all(f'{w}.q' in self.tensors for w in weights):
            return Int8Linear(
                together([self._tensor(f'{w}.q', out, into) for w in weights]),
                together([self._tensor(f'{w}.s', out).float() for w in weights]),
                joined,
            )
        whole = together([self._tensor(w, out, into).float() for w in weights])
        return SteadyLinear(whole, joined)

    def embedding(self, name: str, rows: int, width: int) -> Embedding:
        """An embedding table, by its name without ``.weight``."""
        weight = f'{name}.weight'
        if f'{weight}.q' not in self.tensors:
            return Embedding(self._tensor(weight, rows, width))
        table = self._tensor(f'{weight}.q', rows, width)
        return Embedding(table, self._tensor(f'{weight}.s', rows))

    def vector(self, name: str, size: int) -> torch.Tensor:
        """A bias, or the scale of a norm, in fp32, [size]."""
        return self._tensor(name, size).float()

    def _tensor(self, name: str, *shape: int) -> torch.Tensor:
        tensor = self.tensors.get(name)
        if tensor is None or tensor.shape != shape:
            raise ModelError(
                f'{self.path} does not fit its config.json: {name} is missing or of '
                'another shape.'
            )
        return tensor


def together(parts: list[torch.Tensor]) -> torch.Tensor:
    """Concatenate tensors; a single tensor is not copied."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)
