"""Writes the folder that a trained model ships in."""

from pathlib import Path
from typing import Any

import torch

from parlai_q2.io.write import whole_file
from parlai_q2.models.folder import CHECKSUMS, write_checksums
from parlai_q2.models.int8_weights import (
    INT8_WEIGHTS,
    PART_BYTES,
    SMALLEST_QUANTISED,
    dequantise,
    further_parts,
    in_parts,
    quantise_rows,
    stored_form,
    write_int8,
)

Weights = dict[str, torch.Tensor]
SHIPPED = (
    'config.json',
    'generation_config.json',
    INT8_WEIGHTS,
    'tokenizer.json',
    'tokenizer_config.json',
)


def as_shipped(weights: Weights) -> Weights:
    """Weights as they come back after being stored as int8 and fp16."""
    rounded: Weights = {}
    for name, tensor in weights.items():
        if tensor.ndim == 2 and tensor.numel() > SMALLEST_QUANTISED:
            parts = quantise_rows(tensor)
            stored = {f'{name}.{part}': value for part, value in parts.items()}
            rounded[name] = dequantise(stored)[name]
        else:
            floating = tensor.is_floating_point()
            rounded[name] = tensor.half().float() if floating else tensor
    return rounded


def distinct(state: Weights) -> Weights:
    """
    A state dict in which weights with several names occur once, under the first name.
    T5's embeddings also belong to the encoder and the decoder; loading ties them again.
    """
    first: dict[tuple, str] = {}
    for name, tensor in state.items():
        first.setdefault((tensor.data_ptr(), tensor.shape), name)
    return {name: state[name] for name in first.values()}


def write_folder(model: Any, tokenizer: Any, folder: Path) -> int:
    """
    Write a model in its shipped form: int8 weights (in files of at most
    :data:`PART_BYTES`), configuration, tokenizer, and the checksums that are verified
    when it is loaded.

    :param folder: the folder; it is created, and existing files are replaced.
    :return: the size of the weights in bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # While the weights are being replaced, checksums of the old ones would be wrong.
    (folder / CHECKSUMS).unlink(missing_ok=True)
    parts = in_parts(stored_form(distinct(model.state_dict())), PART_BYTES)
    for old in further_parts(folder / INT8_WEIGHTS):
        old.unlink()
    size = 0
    for name, tensors in parts.items():
        with whole_file(folder / name) as unfinished:
            size += write_int8(tensors, unfinished)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(folder)
    if getattr(model, 'generation_config', None) is not None:
        model.generation_config.save_pretrained(folder)
    for file in map(Path, tokenizer.save_pretrained(folder)):
        if file.name not in SHIPPED:
            file.unlink(missing_ok=True)  # tokenizer.json has what it says
    names = [*SHIPPED, *(name for name in parts if name not in SHIPPED)]
    write_checksums(folder, [name for name in names if (folder / name).exists()])
    return size
