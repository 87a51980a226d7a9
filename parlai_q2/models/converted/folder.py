"""
A folder with a converted model: what ``ct2-transformers-converter`` writes
(``model.bin``, ``config.json``, vocabularies), ``tokenizer.json``, and for encoders
``head.safetensors``, the output layer that CTranslate2 does not run.

Files that are listed in ``sha256.json`` are verified first. A large model file is in
parts, ``model.bin``, ``model.2.bin`` and so on, which are joined in memory.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Optional

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.converted.binary import Model, read
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.layout import ENCODER, SEQ2SEQ
from parlai_q2.models.converted.settings import CONFIG, checked_config
from parlai_q2.models.folder import blaming, has_file, verify_checksums

MODEL, HEAD = 'model.bin', 'head.safetensors'
SHARED, SOURCE, TARGET = (
    f'{name}_vocabulary.json' for name in ('shared', 'source', 'target')
)
WORDS = 'vocabulary.json'
VOCABULARIES = {ENCODER: (WORDS,), SEQ2SEQ: (SHARED, SOURCE, TARGET)}
# Architectures that have no output layer: they give vectors of texts.
HEADLESS = ('BertModel',)
# Hosts of repositories refuse files of 100 MB.
PART_BYTES = 90_000_000


@dataclass(frozen=True)
class Converted:
    """
    A converted model in memory.

    :param place: the folder it is from, for messages.
    :param config: ``config.json``: CTranslate2's settings and, for encoders, what a
        Hugging Face configuration says of classes and positions.
    :param files: what the library loads, by name.
    :param head: ``weight`` [outputs, M] and ``bias`` [outputs] of an encoder's output
        layer.
    :param rows: the numbers of rows of an encoder's embeddings: of words, of the second
        table, and of positions (0 if there are none).
    :param tokens: the folder with its tokenizer, if that is another.
    """

    place: Path
    config: Mapping[str, Any]
    files: Mapping[str, bytes]
    head: Mapping[str, np.ndarray] = field(default_factory=dict)
    rows: tuple[int, int, int] = (0, 0, 0)
    tokens: Optional[Path] = None

    @property
    def tokenizer(self) -> Path:
        """The folder that has its tokenizer."""
        return self.tokens or self.place

    def source(self) -> list[str]:
        """The words that an encoder-decoder reads, in the order of their ids."""
        return self._words(SOURCE, SHARED)

    def target(self) -> list[str]:
        """The words that an encoder-decoder writes, in the order of their ids."""
        return self._words(TARGET, SHARED)

    def _words(self, *names: str) -> list[str]:
        return next(json.loads(self.files[n]) for n in names if n in self.files)


def is_converted(folder: Path) -> bool:
    """Whether a folder has a converted model."""
    return has_file(folder, MODEL)


def part_name(number: int) -> str:
    """The name of a part of the model file, numbered from 1."""
    return MODEL if number == 1 else f'model.{number}.bin'


def read_folder(folder: Path, wanted: str) -> Converted:
    """
    Read, verify and check a converted model.

    :param wanted: :data:`ENCODER` or :data:`SEQ2SEQ`.
    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    config = checked_config(folder)
    files = {MODEL: _joined(folder), CONFIG: (folder / CONFIG).read_bytes()}
    names = [n for n in VOCABULARIES[wanted] if has_file(folder, n)]
    sizes = []
    for name in names:
        with blaming(folder / name):
            files[name] = (folder / name).read_bytes()
            words = json.loads(files[name])
            if not isinstance(words, list) or not all(type(w) is str for w in words):
                raise ValueError('it must be a list of words')
            sizes.append(len(words))
    model = _checked(folder, files[MODEL], wanted)
    with blaming(folder / MODEL):
        if not sizes:
            raise ValueError(f'there is no {VOCABULARIES[wanted][0]} beside it')
        check(model, wanted, sizes * 2 if names == [SHARED] else sizes)
    if wanted == SEQ2SEQ:
        return Converted(folder, config, files)
    bare = (config.get('architectures') or [''])[0] in HEADLESS
    head = {} if bare else _head(folder, model)
    with blaming(folder / CONFIG):
        check_classes(config, head)
    return Converted(folder, config, files, head, rows_of(model))


def _joined(folder: Path) -> bytes:
    parts, number = [], 1
    with blaming(folder / MODEL):
        while has_file(folder, part_name(number)):
            parts.append((folder / part_name(number)).read_bytes())
            number += 1
        return parts[0] if len(parts) == 1 else b''.join(parts)


def _checked(folder: Path, data: bytes, wanted: str) -> Model:
    with blaming(folder / MODEL):
        model = read(data)
        check(model, wanted)
        return model


def _head(folder: Path, model: Model) -> dict[str, np.ndarray]:
    path = folder / HEAD
    if not has_file(folder, HEAD):
        raise ModelError(
            f'{folder} has an encoder without an output layer ({HEAD}), which '
            'ct2-transformers-converter leaves out. Name the folder or hub name that '
            'it was converted from, or convert that by "python -m '
            'parlai_q2.models.converted.convert".'
        )
    from safetensors.numpy import load

    with blaming(path):
        return checked_head(load(path.read_bytes()), model)


def checked_head(head: Mapping[str, np.ndarray], model: Model) -> dict[str, np.ndarray]:
    """An output layer in fp32; a ValueError if it does not fit its encoder."""
    width = model['encoder/embeddings_0/weight'].shape[1]
    found = {name: np.asarray(head[name], np.float32) for name in ('weight', 'bias')}
    if found['weight'].shape != (len(found['bias']), width):
        raise ValueError(f'it has not {width} weights for each output')
    return found


def check_classes(config: Mapping[str, Any], head: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError if a classifier has not as many outputs as names for them."""
    if not head:
        return
    names, outputs = config.get('id2label'), len(head['bias'])
    if names and len(names) != outputs and 'Sequence' in str(config['architectures']):
        raise ValueError(f'it names {len(names)} classes, and the model has {outputs}')


def rows_of(model: Model) -> tuple[int, int, int]:
    """The sizes of an encoder's embeddings; see :class:`Converted`."""
    tables = ('embeddings_0/weight', 'embeddings_1/weight')
    names = (*tables, 'position_encodings/encodings')
    places = (f'encoder/{name}' for name in names)
    words, kinds, positions = (len(model[p]) if p in model else 0 for p in places)
    return words, kinds, positions


def has_any(folder: Path) -> bool:
    """Whether a folder has a model that :func:`read_any` reads."""
    from parlai_q2.models.converted.from_adapter import has_adapter
    from parlai_q2.models.converted.from_int8 import has_int8

    return is_converted(folder) or has_int8(folder) or has_adapter(folder)


def tokenizer_folder(folder: Path) -> Path:
    """The folder with the tokenizer of an encoder: an adapter has its base's."""
    from parlai_q2.models.converted.from_adapter import base_folder, has_adapter

    return base_folder(folder) if has_adapter(folder) else folder


def read_any(folder: Path, wanted: str) -> Optional[Converted]:
    """
    The converted model of a folder, or one made from its int8 weights, or from its
    adapter and the base of that; None if it has none of these.
    """
    from parlai_q2.models.converted.from_adapter import has_adapter, read_adapter_folder
    from parlai_q2.models.converted.from_int8 import has_int8, read_int8_folder

    if is_converted(folder):
        return read_folder(folder, wanted)
    if has_int8(folder):
        return read_int8_folder(folder, wanted)
    return read_adapter_folder(folder, wanted) if has_adapter(folder) else None
