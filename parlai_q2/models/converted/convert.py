"""
Converts a model of transformers, or one with int8 weights, for CTranslate2:

    python -m parlai_q2.models.converted.convert FOLDER OUT

``ct2-transformers-converter`` supports more architectures. This one also keeps the
output layer of a classifier or question answerer, supports MPNet, and takes int8
weights as they are. :func:`as_transformers` converts back.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.binary import ENCODER, SEQ2SEQ, Model, count_layers
from parlai_q2.models.converted.int8 import MAX_INT8
from parlai_q2.models.converted.reader import (
    CONFIG_FILE,
    HEAD_FILE,
    MODEL_FILE,
    SHARED,
    SOURCE,
    TARGET,
    Converted,
    convert_tensors,
    read_tensors,
)
from parlai_q2.models.converted.weights import (
    OUTPUT_LAYERS,
    RELU,
    Weights,
    bert_weights,
    mpnet_weights,
    t5_weights,
)
from parlai_q2.models.model_files import (
    CHECKSUMS,
    INT8_WEIGHTS,
    has_file,
    read_object,
    write_checksums,
)
from parlai_q2.models.tokens import TOKENIZER_CONFIG, TOKENIZER_FILE

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel
    from transformers.models.auto.auto_factory import _BaseAutoModelClass

# The fields of a Hugging Face configuration that are kept for an encoder.
CONFIG_FIELDS = ('architectures', 'id2label', 'model_type', 'pad_token_id')
# Matrices with up to this many elements (relative position tables) stay as they are.
SMALLEST_QUANTISED = 4096


def quantised(state: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Round weights to int8 with a scale for each row, as the library does."""
    arrays: dict[str, np.ndarray] = {}
    for name, weight in state.items():
        if weight.ndim == 2 and weight.size > SMALLEST_QUANTISED:
            scale = np.maximum(np.abs(weight).max(1), np.float32(1e-8)) / MAX_INT8
            arrays[f'{name}.q'] = np.rint(weight / scale[:, None]).astype(np.int8)
            arrays[f'{name}.s'] = scale.astype(np.float32)
        else:
            arrays[name] = weight
    return arrays


def write_converted(source: str, out: Path, in_int8: bool = True) -> int:
    """
    Write a converted model.

    :param source: a folder with a configuration, weights and a tokenizer.
    :return: the size of the model file in bytes.
    :raises ConfigError: if the architecture is not one of those that are converted.
    """
    from safetensors.numpy import save

    folder = Path(source)
    config = read_object(folder / CONFIG_FILE)
    (name,) = config['architectures']
    if name not in OUTPUT_LAYERS:
        raise ConfigError(
            f'{source} has a {name}, which is not converted here. Try '
            'ct2-transformers-converter.'
        )
    kind = SEQ2SEQ if name.startswith('T5') else ENCODER
    tensors = read_weights(folder, in_int8)
    converted = convert_tensors(tensors, folder, kind, folder / 'model.safetensors')
    files = converted.files()
    settings = json.loads(files[CONFIG_FILE])
    if kind == ENCODER:
        settings |= {field: config[field] for field in CONFIG_FIELDS if field in config}
    if converted.head:
        files[HEAD_FILE] = save(dict(converted.head))
    files[CONFIG_FILE] = f'{json.dumps(settings, indent=1, sort_keys=True)}\n'.encode()
    for file in (TOKENIZER_FILE, TOKENIZER_CONFIG):
        if (folder / file).exists():
            files[file] = (folder / file).read_bytes()
    out.mkdir(parents=True, exist_ok=True)
    for file in (CHECKSUMS, SHARED, SOURCE, TARGET, HEAD_FILE):
        (out / file).unlink(missing_ok=True)
    for file, content in files.items():
        (out / file).write_bytes(content)
    write_checksums(out, sorted(files))
    return len(files[MODEL_FILE])


def read_weights(folder: Path, in_int8: bool = True) -> dict[str, np.ndarray]:
    """The weights of a folder in their stored form; int8 ones as they are."""
    if has_file(folder, INT8_WEIGHTS):
        return read_tensors(folder)
    import transformers

    from parlai_q2.models.loading import load_model

    (name,) = read_object(folder / CONFIG_FILE)['architectures']
    model = load_model(str(folder), getattr(transformers, name))
    state = {n: t.detach().float().numpy() for n, t in model.state_dict().items()}
    return quantised(state) if in_int8 else state


def as_transformers(
    converted: Converted, auto_class: 'type[_BaseAutoModelClass]'
) -> 'PreTrainedModel':
    """
    Make a model of transformers in fp32: to train from it, and for devices that
    CTranslate2 cannot use.

    :param auto_class: the wanted class, e.g. ``AutoModelForSequenceClassification``, or
        a concrete model class.
    :raises ValueError: if the model has another class or an unknown architecture.
    """
    import torch
    import transformers

    names = converted.config.get('architectures') or ['T5ForConditionalGeneration']
    if names[0] not in OUTPUT_LAYERS:
        raise ValueError(f'a {names[0]} is not turned into a model of transformers')
    model_class = getattr(transformers, names[0])
    # An auto class has one or more model classes for each configuration class.
    config_class = model_class.config_class
    mapping = getattr(auto_class, '_model_mapping', {config_class: auto_class})
    accepted = mapping.get(config_class, ())
    if not isinstance(accepted, (tuple, list)):
        accepted = [accepted]
    if model_class not in accepted:
        raise ValueError(f'it is a {names[0]}, which is none of {auto_class.__name__}')
    if names[0].startswith('T5'):
        config, state = _t5_state(converted)
    else:
        config, state = _encoder_state(converted, names[0])
    config.architectures = list(names)
    model = model_class(config)
    tensors = {name: torch.tensor(array) for name, array in state.items()}
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    wrong = [n for n in (*missing, *unexpected) if not n.endswith('position_ids')]
    if wrong:
        raise ValueError(f'it does not fit a {names[0]}: {wrong[0]}')
    return model


def _to_float(model: Model, place: str) -> np.ndarray:
    array = model[place]
    scale = f'{model.aliases.get(place, place)}_scale'
    if array.dtype == 'int8' and scale in model.arrays:
        weights: np.ndarray = array.astype(np.float32) / model[scale][:, None]
        return weights
    return np.asarray(array, np.float32)


def _read_state(model: Model, weights: Weights) -> dict[str, np.ndarray]:
    state: dict[str, np.ndarray] = {}
    for place, names in weights.items():
        parts = np.split(_to_float(model, place), len(names))
        state.update(zip(names, parts, strict=True))
    return state


def _encoder_state(
    converted: Converted, architecture: str
) -> tuple['PretrainedConfig', dict[str, np.ndarray]]:
    import transformers

    model, saved = converted.model, converted.config
    layers = count_layers(model, 'encoder')
    words = model['encoder/embeddings_0/weight']
    second = model['encoder/embeddings_1/weight']
    settings: dict[str, Any] = {
        'vocab_size': words.shape[0],
        'hidden_size': words.shape[1],
        'num_hidden_layers': layers,
        'num_attention_heads': int(model['encoder/num_heads']),
        'intermediate_size': len(model['encoder/layer_0/ffn/linear_0/weight']),
        'layer_norm_eps': saved.get('layer_norm_epsilon') or 1e-12,
    }
    if architecture.startswith('MPNet'):
        weights, config_class = mpnet_weights(layers), transformers.MPNetConfig
        bias = model['encoder/layer_0/self_attention/relative_attention_bias']
        settings['max_position_embeddings'] = len(second)
        settings['relative_attention_num_buckets'] = len(bias)
    else:
        base = 'bert.' if converted.head else ''
        has_pooler = 'pooler_dense/weight' in model
        weights = bert_weights(layers, base, has_pooler)
        config_class = transformers.BertConfig
        positions = model['encoder/position_encodings/encodings']
        settings['max_position_embeddings'] = len(positions)
        settings['type_vocab_size'] = len(second)
    state = _read_state(model, weights)
    for part, array in converted.head.items():
        state[f'{OUTPUT_LAYERS[architecture]}.{part}'] = array
    if converted.head:
        settings['num_labels'] = len(converted.head['bias'])
    if saved.get('id2label'):
        names = {int(n): name for n, name in saved['id2label'].items()}
        settings['id2label'] = names
        settings['label2id'] = {name: n for n, name in names.items()}
    if saved.get('pad_token_id') is not None:
        settings['pad_token_id'] = saved['pad_token_id']
    return config_class(**settings), state


def _t5_state(converted: Converted) -> tuple['PretrainedConfig', dict[str, np.ndarray]]:
    import transformers

    model, saved = converted.model, converted.config
    layers = {stack: count_layers(model, stack) for stack in ('encoder', 'decoder')}
    is_gated = 'encoder/layer_0/ffn/linear_0_noact/weight' in model
    state = _read_state(model, t5_weights(layers, is_gated))
    words = _to_float(model, 'encoder/embeddings_0/weight')
    for name in ('shared', 'encoder.embed_tokens', 'decoder.embed_tokens'):
        state[f'{name}.weight'] = words
    source = converted.source_words()
    ids = {word: n for n, word in enumerate(source)}
    output = _to_float(model, 'decoder/projection/weight')
    state['lm_head.weight'] = output
    attention, heads = 'encoder/layer_0/self_attention', int(model['encoder/num_heads'])
    is_relu = model['encoder/activation'] == RELU
    config = transformers.T5Config(
        vocab_size=len(source),
        d_model=words.shape[1],
        d_kv=model[f'{attention}/linear_1/weight'].shape[1] // heads,
        d_ff=len(model['encoder/layer_0/ffn/linear_0/weight']),
        num_layers=layers['encoder'],
        num_decoder_layers=layers['decoder'],
        num_heads=heads,
        relative_attention_num_buckets=len(
            model[f'{attention}/relative_attention_bias']
        ),
        relative_attention_max_distance=int(
            model[f'{attention}/relative_attention_max_distance']
        ),
        layer_norm_epsilon=saved.get('layer_norm_epsilon') or 1e-6,
        feed_forward_proj='relu' if is_relu else 'gated-gelu',
        tie_word_embeddings='decoder/scale_outputs' in model,
        decoder_start_token_id=ids[saved['decoder_start_token']],
        eos_token_id=ids[saved['eos_token']],
        pad_token_id=ids[saved['bos_token']],
    )
    return config, state


def main(argv: Sequence[str] | None = None) -> None:
    """Convert the folder that the command line names."""
    parser = argparse.ArgumentParser(description='Converts a model for CTranslate2')
    parser.add_argument('folder', help='with config.json, weights and tokenizer.json')
    parser.add_argument('out', type=Path)
    args = parser.parse_args(argv)
    size = write_converted(args.folder, args.out)
    print(f'{args.out}: {MODEL_FILE} has {size} bytes')


if __name__ == '__main__':
    main()
