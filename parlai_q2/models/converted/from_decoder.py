"""
Puts an encoder-decoder together in memory: a short decoder of its own, over the
encoder, the embeddings and the output layer of another model, which are on disk once.

Such a folder has ``decoder.json``, which names the other model (``base``) and the
SHA-256 of its list of checksums (``base_sha256``), and ``decoder.bin``: in the form of
a model file, the layers of the decoder, and the ids of the tokens that it can write.
"""

import json
import re
from pathlib import Path

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.base import folder_of_base
from parlai_q2.models.converted.binary import Model, read, write
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.folder import MODEL, SOURCE, TARGET, Converted, read_any
from parlai_q2.models.converted.layout import SEQ2SEQ
from parlai_q2.models.converted.settings import CONFIG
from parlai_q2.models.folder import blaming, has_file, verify_checksums

DECODER, WEIGHTS = 'decoder.json', 'decoder.bin'
KEPT = 'decoder/kept'
_LAYERS = re.compile(r'decoder/layer_(?:\d+|norm)/.+')
# What has a row for each token that the decoder can write.
_BY_TOKEN = ('decoder/embeddings/weight', 'decoder/projection/weight')


def has_decoder(folder: Path) -> bool:
    """Whether a folder has a decoder for another model."""
    return has_file(folder, DECODER)


def base_of(folder: Path) -> Path:
    """
    The folder of the model that a decoder was made for.

    :raises ModelError: if there is none, or it is not as it was then.
    """
    return folder_of_base(
        folder / DECODER, 'model in a folder', lambda base: not has_decoder(base)
    )


def read_decoder_folder(folder: Path, wanted: str) -> Converted:
    """
    Read, verify and check a decoder and its base.

    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    base = base_of(folder)
    whole = read_any(base, SEQ2SEQ)
    if whole is None or whole.source() != whole.target():
        raise ModelError(f'{base} has no encoder-decoder that can write all its words.')
    words = whole.source()
    with blaming(folder / WEIGHTS):
        own = read((folder / WEIGHTS).read_bytes())
        kept = _kept(own, words, whole)
        model = joined(read(whole.files[MODEL]), own)
        check(model, wanted, [len(words), len(kept)])
        files = {
            MODEL: write(model),
            CONFIG: whole.files[CONFIG],
            SOURCE: json.dumps(words).encode(),
            TARGET: json.dumps([words[n] for n in kept]).encode(),
        }
    return Converted(folder, whole.config, files, tokens=base)


def joined(base: Model, own: Model) -> Model:
    """A model with the decoder's layers of another."""
    arrays = {n: a for n, a in base.arrays.items() if not _LAYERS.fullmatch(n)}
    aliases = {n: a for n, a in base.aliases.items() if not _LAYERS.fullmatch(n)}
    for name in _BY_TOKEN:
        meant = aliases.pop(name, name)
        for part in ('', '_scale'):  # an alias stands for the scale, too
            if f'{meant}{part}' in base.arrays:
                arrays[f'{name}{part}'] = base.arrays[f'{meant}{part}'][own[KEPT]]
    arrays.update({n: a for n, a in own.arrays.items() if n != KEPT})
    return Model(base.spec, base.revision, arrays, {**aliases, **own.aliases})


def decoder_of(model: Model, kept: np.ndarray) -> Model:
    """What :func:`joined` takes of a model with a decoder: the layers of that."""
    arrays = {n: a for n, a in model.arrays.items() if _LAYERS.fullmatch(n)}
    aliases = {n: a for n, a in model.aliases.items() if _LAYERS.fullmatch(n)}
    arrays[KEPT] = np.asarray(kept, np.int32)
    return Model(model.spec, model.revision, arrays, aliases)


def _kept(own: Model, words: list[str], whole: Converted) -> list[int]:
    """The ids that the decoder can write, if the file has no more than it should."""
    names = {*own.arrays, *own.aliases} - {KEPT}
    strange = next((n for n in sorted(names) if not _LAYERS.fullmatch(n)), None)
    if strange:
        raise ValueError(f'{strange[:60]!r} is no part of a decoder')
    array = own.arrays.get(KEPT)
    if array is None or array.dtype != np.int32 or array.ndim != 1 or not array.size:
        raise ValueError(f'{KEPT} is missing or no list of ids')
    kept = array.tolist()
    if kept[0] < 0 or kept[-1] >= len(words) or any(np.diff(array) <= 0):
        raise ValueError(f'{KEPT} has no ids of {len(words)} words in order')
    for role in ('decoder_start_token', 'eos_token', 'unk_token'):
        token = whole.config.get(role)
        if token not in {words[n] for n in kept}:
            raise ValueError(f'{KEPT} lacks {token!r}')
    return kept
