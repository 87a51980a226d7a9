"""
Reads what earlier releases shipped, int8 weights in safetensors, as converted models.

The arithmetic is the same, so nothing is lost: ``w = q * s`` here, ``w = q / scale``
there. To be deleted with the last folder in that format.
"""

import json
from pathlib import Path
from typing import Mapping

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.binary import write
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.folder import (
    MODEL,
    SHARED,
    WORDS,
    Converted,
    check_classes,
    checked_head,
    rows_of,
)
from parlai_q2.models.converted.layout import ENCODER, LAYOUTS, Stored
from parlai_q2.models.converted.settings import (
    CONFIG,
    checked_config,
    library_config,
    words_of,
)
from parlai_q2.models.folder import INT8_WEIGHTS, blaming, has_file, verify_checksums


def has_int8(folder: Path) -> bool:
    """Whether a folder has int8 weights of an architecture that can be converted."""
    return has_file(folder, INT8_WEIGHTS)


def read_int8_folder(folder: Path, wanted: str) -> Converted:
    """
    Read and verify a folder with int8 weights.

    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    return converted_of(read_tensors(folder), folder, wanted, folder / INT8_WEIGHTS)


def converted_of(
    tensors: Mapping[str, np.ndarray], folder: Path, wanted: str, weights: Path
) -> Converted:
    """
    The converted model of tensors in their stored form.

    :param folder: has the configuration and the tokenizer.
    :param weights: the file that the tensors are from, whose folder is the model's.
    :raises ModelError: if they do not fit the configuration.
    """
    config = checked_config(folder)
    with blaming(folder / CONFIG):
        name = (config.get('architectures') or ['nothing'])[0]
        if name not in LAYOUTS:
            raise ValueError(f'models of the architecture {name!r} are not converted')
        layout, output = LAYOUTS[name]
    with blaming(weights):
        try:
            model = layout(tensors, config)
            check(model, wanted)
        except (KeyError, TypeError, ValueError) as e:
            raise ModelError(f'{weights} does not fit its config.json: {e}') from e
        head = {}
        if wanted == ENCODER and output:
            stored = Stored(tensors)
            parts = {
                part: stored.whole(f'{output}.{part}') for part in ('weight', 'bias')
            }
            head = checked_head(parts, model)
            with blaming(folder / CONFIG):
                check_classes(config, head)
    size = len(model['encoder/embeddings_0/weight'])
    words = json.dumps(words_of(folder, size)).encode()
    with blaming(folder / CONFIG):
        said = library_config(config, folder)
    files = {
        MODEL: write(model),
        CONFIG: json.dumps(said).encode(),
        WORDS if wanted == ENCODER else SHARED: words,
    }
    rows = rows_of(model) if wanted == ENCODER else (0, 0, 0)
    return Converted(weights.parent, {**config, **said}, files, head, rows, folder)


def read_tensors(folder: Path) -> dict[str, np.ndarray]:
    from safetensors.numpy import load

    found: dict[str, np.ndarray] = {}
    number, name = 1, INT8_WEIGHTS
    while has_file(folder, name):
        try:
            found.update(load((folder / name).read_bytes()))
        except Exception as e:
            raise ModelError(
                f'Cannot read the weights in {folder / name}: {e}. The file is '
                'truncated or not a safetensors file; reinstall parlai_q2.'
            ) from e
        number += 1
        name = f'model.int8.{number}.safetensors'
    return found
