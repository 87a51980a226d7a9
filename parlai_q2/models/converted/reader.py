"""
Reads a folder with a model for CTranslate2. It has one of these:

- what ``ct2-transformers-converter`` writes (``model.bin``, ``config.json``,
  vocabularies), ``tokenizer.json``, and for encoders ``head.safetensors``, the output
  layer that CTranslate2 does not run;
- int8 weights in safetensors with a Hugging Face configuration and a tokenizer;
- an adapter: ``adapter.json`` names its base, a folder of the second kind. Its low-rank
  terms ``B A`` (Hu et al. 2021, section 4.1) are added to the base's weights in fp32,
  and the sum is rounded to int8 by rows. Its other tensors, and its ``config.json`` if
  it has one, replace those of the base. ``grid`` is the factor by which the steps of
  the sum are longer than necessary. The base's weights already lie on a grid: with
  steps of the same length, terms smaller than half a step would be rounded away; at
  1.1, weights fall anywhere between two steps.

Files that are listed in ``sha256.json`` are verified first.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.io.files import file_sha256
from parlai_q2.json_values import JsonObject
from parlai_q2.models.converted import binary
from parlai_q2.models.converted.binary import ENCODER, SEQ2SEQ, Model
from parlai_q2.models.converted.weights import (
    OUTPUT_LAYERS,
    convert_weights,
    read_whole,
)
from parlai_q2.models.model_files import (
    CHECKSUMS,
    INT8_WEIGHTS,
    as_model_error,
    has_file,
    read_object,
    resolve,
    verify_checksums,
)
from parlai_q2.models.tokens import Tokens, read_tokens

MODEL_FILE, CONFIG_FILE, HEAD_FILE = 'model.bin', 'config.json', 'head.safetensors'
ADAPTER, ADAPTER_WEIGHTS = 'adapter.json', 'adapter.int8.safetensors'
SHARED, SOURCE, TARGET = (
    f'{name}_vocabulary.json' for name in ('shared', 'source', 'target')
)
VOCABULARY = 'vocabulary.json'
VOCABULARIES = {ENCODER: (VOCABULARY,), SEQ2SEQ: (SHARED, SOURCE, TARGET)}
# The fields of a configuration that are read, with their types.
CONFIG_TYPES: dict[str, tuple[type, ...]] = {
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
Tensors = dict[str, np.ndarray]


@dataclass(frozen=True)
class Converted:
    """
    A model for CTranslate2 in memory.

    :param place: the model's folder, for messages.
    :param config: CTranslate2's settings and, for encoders, the classes and positions
        of a Hugging Face configuration.
    :param sidecars: the files that CTranslate2 loads with the model, by name.
    :param tokenizer: the folder with its tokenizer.
    :param head: ``weight`` [outputs, M] and ``bias`` [outputs] of an encoder's output
        layer; empty if it has none.
    """

    place: Path
    config: JsonObject
    model: Model = field(repr=False)
    sidecars: Mapping[str, bytes] = field(repr=False)
    tokenizer: Path
    head: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)

    def files(self) -> dict[str, bytes]:
        """The files that CTranslate2 loads, by name."""
        return {**self.sidecars, MODEL_FILE: binary.write(self.model)}

    def source_words(self) -> list[str]:
        """The words that an encoder-decoder reads, in the order of their ids."""
        stored = self.sidecars.get(SOURCE) or self.sidecars[SHARED]
        words: list[str] = json.loads(stored)
        return words


def stored_folder(reference: str) -> Path | None:
    """The folder of a model that :func:`read_model` reads; None for any other model."""
    place = resolve(reference)
    names = (MODEL_FILE, INT8_WEIGHTS, ADAPTER)
    if isinstance(place, Path) and any(has_file(place, name) for name in names):
        return place
    return None


def read_model(folder: Path, expected: str) -> Converted:
    """
    Read and verify a model.

    :param folder: a :func:`stored_folder`.
    :param expected: ``ENCODER`` or ``SEQ2SEQ``.
    :raises ModelError: if a file was changed, is damaged, or of another kind.
    """
    verify_checksums(folder)
    if has_file(folder, MODEL_FILE):
        return _read_converted(folder, expected)
    if has_file(folder, ADAPTER):
        base = tokenizer_folder(folder)
        tensors = merge_adapter(folder, base)
        own = folder if has_file(folder, CONFIG_FILE) else base
        weights = folder / ADAPTER_WEIGHTS
        return convert_tensors(tensors, base, expected, weights, read_config(own))
    weights = folder / INT8_WEIGHTS
    return convert_tensors(read_tensors(folder), folder, expected, weights)


def tokenizer_folder(folder: Path) -> Path:
    """
    The folder with a model's tokenizer: for an adapter, that of its base.

    :raises ModelError: if the base is not there, or is another version.
    """
    if not has_file(folder, ADAPTER):
        return folder
    path = folder / ADAPTER
    settings = read_object(path)
    reference = settings.get('base')
    if not isinstance(reference, str):
        raise ModelError(f'{path} must name the "base" of the adapter.')
    base = resolve(reference)
    if not isinstance(base, Path) or not has_file(base, INT8_WEIGHTS):
        raise ModelError(f'{path}: there is no folder with int8 weights {reference!r}.')
    checksum, listed = settings.get('base_sha256'), base / CHECKSUMS
    if checksum and not (listed.is_file() and file_sha256(listed) == checksum):
        raise ModelError(
            f'{path} was made for another version of {base}: "base_sha256" is not the '
            f'SHA-256 of its {CHECKSUMS}. Reinstall parlai_q2.'
        )
    return base


def merge_adapter(folder: Path, base: Path) -> Tensors:
    """
    Merge an adapter with its base, in their stored form.

    :raises ModelError: if a file was changed or is damaged, or the two do not fit.
    """
    verify_checksums(base)
    grid = float(read_object(folder / ADAPTER).get('grid', 1))
    tensors = read_tensors(base)
    before = dict(tensors)
    adapter = read_tensors(folder, ADAPTER_WEIGHTS)
    layers = {name.rpartition('.lora_')[0] for name in adapter} - {''}
    with as_model_error(folder / ADAPTER_WEIGHTS):
        for name, tensor in adapter.items():
            if '.lora_' in name:
                continue
            if name not in tensors:
                raise ValueError(f'it does not fit its base: {name}')
            tensors[name] = tensor
        for layer in sorted(layers):
            name = f'{layer}.weight'
            lora_a = read_whole(adapter, f'{layer}.lora_a')
            lora_b = read_whole(adapter, f'{layer}.lora_b')
            total = read_whole(before, name) + lora_b @ lora_a
            if name in tensors:  # too small for int8
                tensors[name] = total
                continue
            scale = np.abs(total).max(axis=1) / 127 * grid
            scale[scale == 0] = 1
            tensors[f'{name}.q'] = np.rint(total / scale[:, None]).astype(np.int8)
            tensors[f'{name}.s'] = scale.astype(np.float32)
    return tensors


def read_tensors(folder: Path, name: str = INT8_WEIGHTS) -> Tensors:
    """The weights of a folder in their stored form, from one or more files."""
    from safetensors.numpy import load

    tensors: Tensors = {}
    stem, _, ending = name.rpartition('.')
    number = 1
    while has_file(folder, name):
        try:
            tensors.update(load((folder / name).read_bytes()))
        except Exception as e:
            raise ModelError(
                f'Cannot read the weights in {folder / name}: {e}. The file is '
                'truncated or not a safetensors file; reinstall parlai_q2.'
            ) from e
        number += 1
        name = f'{stem}.{number}.{ending}'
    return tensors


def _read_converted(folder: Path, expected: str) -> Converted:
    config = read_config(folder)
    sidecars = {CONFIG_FILE: (folder / CONFIG_FILE).read_bytes()}
    names = [n for n in VOCABULARIES[expected] if has_file(folder, n)]
    word_counts = []
    for name in names:
        with as_model_error(folder / name):
            sidecars[name] = (folder / name).read_bytes()
            words = json.loads(sidecars[name])
            if not isinstance(words, list) or not all(type(w) is str for w in words):
                raise ValueError('it must be a list of words')
            word_counts.append(len(words))
    if names == [SHARED]:  # the words of the source, and of the target
        word_counts *= 2
    with as_model_error(folder / MODEL_FILE):
        model = binary.read((folder / MODEL_FILE).read_bytes())
        binary.check(model, expected, word_counts)
        if not word_counts:
            raise ValueError(f'there is no {VOCABULARIES[expected][0]} beside it')
    head: Tensors = {}
    has_vectors = (config.get('architectures') or [''])[0] == 'BertModel'
    if expected == ENCODER and not has_vectors:
        if not has_file(folder, HEAD_FILE):
            raise ModelError(
                f'{folder} has an encoder without an output layer ({HEAD_FILE}), which '
                'ct2-transformers-converter leaves out. Name the folder or hub name '
                'that it was converted from, or convert that by "python -m '
                'parlai_q2.models.converted.convert".'
            )
        with as_model_error(folder / HEAD_FILE):
            head = _check_head(read_tensors(folder, HEAD_FILE), model, config)
    return Converted(
        place=folder,
        config=config,
        model=model,
        sidecars=sidecars,
        tokenizer=folder,
        head=head,
    )


def convert_tensors(
    tensors: Tensors,
    folder: Path,
    expected: str,
    weights: Path,
    config: JsonObject | None = None,
) -> Converted:
    """
    Convert tensors in their stored form.

    :param folder: has the tokenizer and, unless another is given, the configuration.
    :param weights: the file that the tensors are from, whose folder is the model's.
    :raises ModelError: if they do not fit the configuration.
    """
    config = read_config(folder) if config is None else config
    with as_model_error(folder / CONFIG_FILE):
        name = (config.get('architectures') or ['nothing'])[0]
        if name not in OUTPUT_LAYERS:
            raise ValueError(f'models of the architecture {name!r} are not converted')
        tokens = read_tokens(folder)
        settings = write_settings(config, tokens)
    head: Tensors = {}
    try:
        model = convert_weights(tensors, config)
        binary.check(model, expected)
        if layer := OUTPUT_LAYERS[name]:
            parts = ('weight', 'bias')
            head = {part: read_whole(tensors, f'{layer}.{part}') for part in parts}
            head = _check_head(head, model, config)
    except (KeyError, TypeError, ValueError) as e:
        raise ModelError(f'{weights} does not fit its config.json: {e}') from e
    words = tokens.words(len(model['encoder/embeddings_0/weight']))
    sidecars = {
        CONFIG_FILE: json.dumps(settings).encode(),
        VOCABULARIES[expected][0]: f'{json.dumps(words)}\n'.encode(),
    }
    return Converted(
        place=weights.parent,
        config={**config, **settings},
        model=model,
        sidecars=sidecars,
        tokenizer=folder,
        head=head,
    )


def _check_head(head: Tensors, model: Model, config: JsonObject) -> Tensors:
    """
    Check an output layer, and return it in fp32.

    :raises ValueError: if it does not fit its encoder, or the names of its outputs.
    """
    width = model['encoder/embeddings_0/weight'].shape[1]
    arrays = {name: np.asarray(head[name], np.float32) for name in ('weight', 'bias')}
    outputs, names = len(arrays['bias']), config.get('id2label')
    if arrays['weight'].shape != (outputs, width):
        raise ValueError(f'it has not {width} weights for each output')
    if names and len(names) != outputs and 'Sequence' in str(config['architectures']):
        raise ValueError(
            f'{CONFIG_FILE} names {len(names)} classes, and it has {outputs}'
        )
    return arrays


def read_config(folder: Path) -> JsonObject:
    """
    Read and check a folder's configuration.

    :raises ModelError: if a field that is read has another type or an absurd value.
    """
    config = read_object(folder / CONFIG_FILE)
    with as_model_error(folder / CONFIG_FILE):
        for name, types in CONFIG_TYPES.items():
            value = config.get(name)
            if value is not None and not isinstance(value, types):
                raise ValueError(f'{name} is {str(value)[:40]!r}')
        for name in ('layer_norm_eps', 'layer_norm_epsilon'):
            if not 0 <= (config.get(name) or 0) <= 0.1:
                raise ValueError(f'{name} is {config[name]!r}, not from 0 to 0.1')
        for name in config.get('architectures') or ():
            if not isinstance(name, str):
                raise ValueError(f'architectures has {str(name)[:40]!r}')
    return config


def write_settings(config: JsonObject, tokens: Tokens) -> JsonObject:
    """The content of ``config.json`` as CTranslate2's own converters write it."""
    is_encoder = 'layer_norm_eps' in config
    norm = 'layer_norm_eps' if is_encoder else 'layer_norm_epsilon'
    settings: JsonObject = {
        'layer_norm_epsilon': config[norm],
        'multi_query_attention': False,
        'unk_token': tokens.special['unk_token'],
        # CTranslate2's default special tokens, which encoders do not use.
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
