"""
Reads a folder with a model for CTranslate2. It has one of these:

- what ``ct2-transformers-converter`` writes (``model.bin``, ``config.json``,
  vocabularies), ``tokenizer.json``, and for encoders ``head.safetensors``, the output
  layer that CTranslate2 does not run. A large model file is in parts, ``model.bin``,
  ``model.2.bin`` and so on;
- int8 weights in safetensors with a Hugging Face configuration and a tokenizer;
- an adapter, see :mod:`.adapter`.

Files that are listed in ``sha256.json`` are verified first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.architectures import (
    ENCODER,
    OUTPUT_LAYERS,
    SEQ2SEQ,
    convert_weights,
)
from parlai_q2.models.converted.binary import Model
from parlai_q2.models.converted.check import check
from parlai_q2.models.converted.stored import Stored
from parlai_q2.models.folder import (
    INT8_WEIGHTS,
    blaming,
    has_file,
    read_object,
    verify_checksums,
)
from parlai_q2.models.tokens import read_tokens

MODEL, CONFIG, HEAD = 'model.bin', 'config.json', 'head.safetensors'
SHARED, SOURCE, TARGET = (
    f'{name}_vocabulary.json' for name in ('shared', 'source', 'target')
)
WORDS = 'vocabulary.json'
VOCABULARIES = {ENCODER: (WORDS,), SEQ2SEQ: (SHARED, SOURCE, TARGET)}
# Hosts of repositories refuse files of 100 MB.
PART_BYTES = 90_000_000
# The fields of a configuration that are read, with their types.
TYPES: dict[str, tuple[type, ...]] = {
    'add_source_bos': (bool,),
    'add_source_eos': (bool,),
    'architectures': (list,),
    'eos_token': (str,),
    'id2label': (dict,),
    'layer_norm_eps': (int, float),
    'layer_norm_epsilon': (int, float),
    'model_type': (str,),
    'multi_query_attention': (bool,),
    'pad_token_id': (int,),
}
# Values outside these ranges would change scores silently, or fail late.
RANGES: dict[str, tuple[float, float]] = {
    'layer_norm_eps': (0, 0.1),
    'layer_norm_epsilon': (0, 0.1),
    'pad_token_id': (0, 2**24),
}


@dataclass(frozen=True)
class Converted:
    """
    A model for CTranslate2 in memory.

    :param place: the folder it is from, for messages.
    :param config: CTranslate2's settings and, for encoders, the classes and positions
        of a Hugging Face configuration.
    :param sidecars: the files that CTranslate2 loads with the model, by name.
    :param head: ``weight`` [outputs, M] and ``bias`` [outputs] of an encoder's output
        layer; empty if it has none.
    :param tokens: the folder with its tokenizer, if that is another.
    """

    place: Path
    config: Mapping[str, Any]
    model: Model = field(repr=False)
    sidecars: Mapping[str, bytes] = field(repr=False)
    head: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)
    tokens: Path | None = None

    @property
    def tokenizer(self) -> Path:
        """The folder with its tokenizer."""
        return self.tokens or self.place

    def files(self) -> dict[str, bytes]:
        """The files that CTranslate2 loads, by name."""
        return {**self.sidecars, MODEL: binary.write(self.model)}

    def source(self) -> list[str]:
        """The words that an encoder-decoder reads, in the order of their ids."""
        return self._read_words(SOURCE, SHARED)

    def target(self) -> list[str]:
        """The words that an encoder-decoder writes, in the order of their ids."""
        return self._read_words(TARGET, SHARED)

    def _read_words(self, *names: str) -> list[str]:
        return next(json.loads(self.sidecars[n]) for n in names if n in self.sidecars)

    def rows(self) -> tuple[int, int, int]:
        """
        The rows of an encoder's embeddings: of words, of the second table, and of
        positions (0 if there are none).
        """
        tables = ('embeddings_0/weight', 'embeddings_1/weight')
        names = (*tables, 'position_encodings/encodings')
        places = [f'encoder/{name}' for name in names]
        words, second, positions = (
            len(self.model[place]) if place in self.model else 0 for place in places
        )
        return words, second, positions


def is_converted(folder: Path) -> bool:
    """Whether a folder has a model file of CTranslate2."""
    return has_file(folder, MODEL)


def has_int8(folder: Path) -> bool:
    """Whether a folder has int8 weights in safetensors."""
    return has_file(folder, INT8_WEIGHTS)


def part_name(number: int) -> str:
    """The name of a part of the model file, numbered from 1."""
    return MODEL if number == 1 else f'model.{number}.bin'


def read_folder(folder: Path, expected: str) -> Converted:
    """
    Read, verify and check a converted model.

    :param expected: :data:`ENCODER` or :data:`SEQ2SEQ`.
    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    config = read_config(folder)
    sidecars = {CONFIG: (folder / CONFIG).read_bytes()}
    names = [n for n in VOCABULARIES[expected] if has_file(folder, n)]
    sizes = []
    for name in names:
        with blaming(folder / name):
            sidecars[name] = (folder / name).read_bytes()
            words = json.loads(sidecars[name])
            if not isinstance(words, list) or not all(type(w) is str for w in words):
                raise ValueError('it must be a list of words')
            sizes.append(len(words))
    with blaming(folder / MODEL):
        parts, number = [], 1
        while has_file(folder, part_name(number)):
            parts.append((folder / part_name(number)).read_bytes())
            number += 1
        model = binary.read(parts[0] if len(parts) == 1 else b''.join(parts))
        check(model, expected, sizes * 2 if names == [SHARED] else sizes)
        if not sizes:
            raise ValueError(f'there is no {VOCABULARIES[expected][0]} beside it')
    if expected == SEQ2SEQ:
        return Converted(folder, config, model, sidecars)
    has_vectors = (config.get('architectures') or [''])[0] == 'BertModel'
    head = {} if has_vectors else _read_head(folder, model)
    with blaming(folder / CONFIG):
        _check_classes(config, head)
    return Converted(folder, config, model, sidecars, head)


def _read_head(folder: Path, model: Model) -> dict[str, np.ndarray]:
    if not has_file(folder, HEAD):
        raise ModelError(
            f'{folder} has an encoder without an output layer ({HEAD}), which '
            'ct2-transformers-converter leaves out. Name the folder or hub name that '
            'it was converted from, or convert that by "python -m '
            'parlai_q2.models.converted.convert".'
        )
    from safetensors.numpy import load

    with blaming(folder / HEAD):
        return _check_head(load((folder / HEAD).read_bytes()), model)


def _check_head(head: Mapping[str, np.ndarray], model: Model) -> dict[str, np.ndarray]:
    """An output layer in fp32; a ValueError if it does not fit its encoder."""
    width = model['encoder/embeddings_0/weight'].shape[1]
    arrays = {name: np.asarray(head[name], np.float32) for name in ('weight', 'bias')}
    if arrays['weight'].shape != (len(arrays['bias']), width):
        raise ValueError(f'it has not {width} weights for each output')
    return arrays


def _check_classes(config: Mapping[str, Any], head: Mapping[str, np.ndarray]) -> None:
    """Raise ValueError if a classifier has not as many outputs as names for them."""
    if not head:
        return
    names, outputs = config.get('id2label'), len(head['bias'])
    if names and len(names) != outputs and 'Sequence' in str(config['architectures']):
        raise ValueError(f'it names {len(names)} classes, and the model has {outputs}')


def read_int8_folder(folder: Path, expected: str) -> Converted:
    """
    Read and verify a folder with int8 weights.

    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    return convert_tensors(
        read_tensors(folder), folder, expected, folder / INT8_WEIGHTS
    )


def convert_tensors(
    tensors: Mapping[str, np.ndarray], folder: Path, expected: str, weights: Path
) -> Converted:
    """
    Convert tensors in their stored form.

    :param folder: has the configuration and the tokenizer.
    :param weights: the file that the tensors are from, whose folder is the model's.
    :raises ModelError: if they do not fit the configuration.
    """
    config = read_config(folder)
    with blaming(folder / CONFIG):
        name = (config.get('architectures') or ['nothing'])[0]
        if name not in OUTPUT_LAYERS:
            raise ValueError(f'models of the architecture {name!r} are not converted')
        settings = write_settings(config, folder)
    output, head = OUTPUT_LAYERS[name], {}
    with blaming(weights):
        try:
            model = convert_weights(tensors, config)
            check(model, expected)
            if output:
                head = _check_head(read_head(tensors, output), model)
        except (KeyError, TypeError, ValueError) as e:
            raise ModelError(f'{weights} does not fit its config.json: {e}') from e
    with blaming(folder / CONFIG):
        _check_classes(config, head)
    words = list_words(folder, len(model['encoder/embeddings_0/weight']))
    sidecars = {
        CONFIG: json.dumps(settings).encode(),
        WORDS if expected == ENCODER else SHARED: json.dumps(words).encode(),
    }
    config = {**config, **settings}
    return Converted(
        place=weights.parent,
        config=config,
        model=model,
        sidecars=sidecars,
        head=head,
        tokens=folder,
    )


def read_head(tensors: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The weight and bias of an output layer, in fp32."""
    stored = Stored(tensors)
    return {part: stored.whole(f'{name}.{part}') for part in ('weight', 'bias')}


def read_tensors(folder: Path) -> dict[str, np.ndarray]:
    """The int8 weights of a folder, in their stored form."""
    from safetensors.numpy import load

    tensors: dict[str, np.ndarray] = {}
    number, name = 1, INT8_WEIGHTS
    while has_file(folder, name):
        try:
            tensors.update(load((folder / name).read_bytes()))
        except Exception as e:
            raise ModelError(
                f'Cannot read the weights in {folder / name}: {e}. The file is '
                'truncated or not a safetensors file; reinstall parlai_q2.'
            ) from e
        number += 1
        name = f'model.int8.{number}.safetensors'
    return tensors


def read_config(folder: Path) -> dict[str, Any]:
    """
    Read and check a folder's configuration.

    :raises ModelError: if a field that is read has another type or an absurd value.
    """
    config = read_object(folder / CONFIG)
    with blaming(folder / CONFIG):
        for name, types in TYPES.items():
            value = config.get(name)
            if value is not None and not isinstance(value, types):
                raise ValueError(f'{name} is {str(value)[:40]!r}')
        for name, (low, high) in RANGES.items():
            value = config.get(name)
            if value is not None and not low <= value <= high:
                raise ValueError(f'{name} is {value!r}, not from {low:g} to {high:g}')
        for name in config.get('architectures') or ():
            if not isinstance(name, str):
                raise ValueError(f'architectures has {str(name)[:40]!r}')
    return config


def write_settings(config: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What CTranslate2's own converters write into ``config.json``."""
    tokens = read_tokens(folder)
    is_encoder = 'layer_norm_eps' in config
    norm = 'layer_norm_eps' if is_encoder else 'layer_norm_epsilon'
    settings: dict[str, Any] = {
        'layer_norm_epsilon': config[norm],
        'multi_query_attention': False,
        'unk_token': tokens.special['unk_token'],
        # CTranslate2's own words for these, which encoders do not use.
        'bos_token': '<s>',
        'eos_token': '</s>',
    }
    if not is_encoder:
        settings.update(
            add_source_bos=False,
            add_source_eos=False,
            bos_token=tokens.special['pad_token'],
            decoder_start_token=tokens.word(config.get('decoder_start_token_id', 0)),
            eos_token=tokens.special['eos_token'],
        )
    return settings


def list_words(folder: Path, size: int) -> list[str]:
    """The words of a tokenizer by their ids; names for ids that it does not use."""
    words = read_tokens(folder).words()
    return [words.get(n, f'<unused_{n}>') for n in range(size)]
