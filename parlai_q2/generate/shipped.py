"""
The shipped reply model: an adapter over a T5 that it shares, merged as it is loaded.

``W + B A`` (Hu et al. 2021, section 4.1) is computed in fp32 by numpy, and rounded to
int8 by rows as converted models are.

At each step the output layer reads as much memory as all other layers of the decoder.
So the model writes with a vocabulary map, as in Jean et al. 2015 (section 3.2): the
tokens of its context, and the 6,000 commonest of the replies that it learnt from.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.generate.decoding import Decoding
from parlai_q2.generate.library import VOCABULARY_MAP, Place
from parlai_q2.models.converted.binary import write
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.folder import MODEL, SHARED
from parlai_q2.models.converted.from_int8 import read_tensors
from parlai_q2.models.converted.layout import SEQ2SEQ, t5
from parlai_q2.models.converted.settings import (
    CONFIG,
    checked_config,
    library_config,
    words_of,
)
from parlai_q2.models.folder import blaming, read_object, verify_checksums
from parlai_q2.models.references import resolve

ADAPTER, WEIGHTS = 'adapter.json', 'adapter.int8.safetensors'
COMMON = 'common_tokens.json'
# The reply model, the searches that suit it, and the longest context that it learnt.
REPLY_MODEL = 'q2_mini/reply'
REPLY_DECODING = Decoding(beam_min_length=8, beam_block_ngram=3, label_truncate=64)
REPLY_TOKENS = 512
Tensors = dict[str, np.ndarray]
Stored = Mapping[str, np.ndarray]


def is_adapter(folder: Path) -> bool:
    """Whether a folder has an adapter instead of a model of its own."""
    return (folder / ADAPTER).is_file()


def adapted(folder: Path, device: str, compute_type: str) -> tuple[Place, Path]:
    """
    A model made of an adapter and its base, in memory.

    :return: the model's place, and the base's folder, which has the tokenizer.
    :raises ModelError: when a file was changed or damaged, or the two do not fit.
    """
    verify_checksums(folder)
    base = resolve(str(read_object(folder / ADAPTER).get('base')))
    if not isinstance(base, Path):
        raise ModelError(f'{folder / ADAPTER}: there is no folder {base!r}.')
    verify_checksums(base)
    config = checked_config(base)
    with blaming(folder / WEIGHTS):
        tensors = merged(read_tensors(base), _read(folder / WEIGHTS))
        model = t5(tensors, config)
        check(model, SEQ2SEQ)
    words = words_of(base, len(model['encoder/embeddings_0/weight']))
    files = {
        MODEL: write(model),
        CONFIG: json.dumps(library_config(config, base)).encode(),
        SHARED: json.dumps(words).encode(),
        VOCABULARY_MAP: vocabulary_map(words, common_tokens(folder)),
    }
    return Place(folder, device, compute_type, files), base


def common_tokens(folder: Path) -> list[str]:
    """
    The tokens that may follow any context.

    :raises ModelError: when the file is no list of tokens.
    """
    with blaming(folder / COMMON):
        found = json.loads((folder / COMMON).read_text(encoding='utf-8'))
        if not isinstance(found, list) or not all(isinstance(t, str) for t in found):
            raise ValueError('it is no list of tokens')
    return found


def vocabulary_map(words: Sequence[str], common: Sequence[str]) -> bytes:
    """
    A map in the library's form: lines with tokens of a context, a tab, and the tokens
    that may then be written. No token before the tab means any context.
    """
    rest = set(words) - set(common)
    lines = ['\t' + ' '.join(common), *(f'{w}\t{w}' for w in words if w in rest)]
    return '\n'.join([*lines, '']).encode()


def merged(
    base: Mapping[str, np.ndarray], adapter: Mapping[str, np.ndarray]
) -> Tensors:
    """
    The weights of a base with its adapter, both with matrices in int8 (``.q``) and a
    scale for each of their rows (``.s``).

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
        scale = np.abs(whole).max(axis=1) / 127
        scale[scale == 0] = 1
        rounded = np.rint(whole / scale[:, None]).astype(np.int8)
        found[f'{weight}.q'], found[f'{weight}.s'] = rounded, scale.astype(np.float32)
    return found


def _whole(tensors: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    scale = tensors[f'{name}.s'].astype(np.float32)
    return tensors[f'{name}.q'].astype(np.float32) * scale[:, None]


def _read(path: Path) -> Tensors:
    from safetensors.numpy import load

    return load(path.read_bytes())
