"""
The names of weights in transformers' BERT, MPNet and T5 and in CTranslate2's files.

Weights come in their stored form: a large matrix ``<name>`` is ``<name>.q`` (int8) and
``<name>.s`` (a scale for each row, ``w = q * s``). These are CTranslate2's ``weight``
and ``weight_scale = 1 / s``, so nothing is rounded again. Floats stay floats.

CTranslate2's own converters know no MPNet. Its bias for distances is T5's (Raffel et
al. 2020), and its positions are a second embedding, like BERT's token types.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from parlai_q2.json_values import JsonObject
from parlai_q2.models.converted.binary import ENCODER, REVISIONS, SEQ2SEQ, Model

Tensors = Mapping[str, np.ndarray]
# For each name in CTranslate2's file, the weights that are stacked there by rows.
Weights = dict[str, tuple[str, ...]]

# CTranslate2's codes for activations, and for the sum of two embeddings.
RELU, GELU_TANH, GELU, TANH = 0, 1, 3, 5
ADD = 1
# transformers' MPNet has this maximum distance whatever its configuration says.
MPNET_MAX_DISTANCE = 128
T5_ACTIVATIONS = {'gated-gelu': GELU_TANH, 'relu': RELU}
# The output layer of each architecture; none for encoders of vectors and generators.
OUTPUT_LAYERS = {
    'BertModel': '',
    'BertForSequenceClassification': 'classifier',
    'BertForQuestionAnswering': 'qa_outputs',
    'MPNetForSequenceClassification': 'classifier.out_proj',
    'T5ForConditionalGeneration': '',
}


def read_whole(tensors: Tensors, name: str) -> np.ndarray:
    """
    A stored vector or matrix in fp32.

    :raises ValueError: if it is missing.
    """
    if name in tensors:
        return np.asarray(tensors[name], np.float32)
    quantised, scale = _find(tensors, f'{name}.q'), _find(tensors, f'{name}.s')
    return quantised.astype(np.float32) * scale.astype(np.float32)[:, None]


def _find(tensors: Tensors, name: str) -> np.ndarray:
    if name not in tensors:
        raise ValueError(f'{name} is missing')
    return tensors[name]


def _stack(tensors: Tensors, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Stack matrices by rows: ``weight`` and, if in int8, ``weight_scale``."""
    if not all(f'{name}.q' in tensors for name in names):
        return {'weight': np.concatenate([read_whole(tensors, n) for n in names])}
    scale = np.concatenate([_find(tensors, f'{name}.s') for name in names])
    return {
        'weight': np.concatenate([tensors[f'{name}.q'] for name in names]),
        'weight_scale': np.float32(1) / scale.astype(np.float32),
    }


def bert_weights(layers: int, base: str, has_pooler: bool) -> Weights:
    """:param base: the prefix of all names of weights, with the dot."""
    embeddings = f'{base}embeddings'
    weights: Weights = {
        'encoder/embeddings_0/weight': (f'{embeddings}.word_embeddings.weight',),
        'encoder/embeddings_1/weight': (f'{embeddings}.token_type_embeddings.weight',),
        'encoder/position_encodings/encodings': (
            f'{embeddings}.position_embeddings.weight',
        ),
        **_norm('encoder/layernorm_embedding', f'{embeddings}.LayerNorm'),
    }
    for n in range(layers):
        name = f'{base}encoder.layer.{n}'
        parts = [f'{name}.attention.self.{p}' for p in ('query', 'key', 'value')]
        weights |= _encoder_layer(n, name, parts, 'output.dense', 'output.LayerNorm')
    if has_pooler:
        weights |= _linear('pooler_dense', f'{base}pooler.dense')
    return weights


def mpnet_weights(layers: int) -> Weights:
    """
    The weights of MPNet, whose dense layer before the output is CTranslate2's pooling.
    """
    embeddings = 'mpnet.embeddings'
    weights: Weights = {
        'encoder/embeddings_0/weight': (f'{embeddings}.word_embeddings.weight',),
        'encoder/embeddings_1/weight': (f'{embeddings}.position_embeddings.weight',),
        'encoder/layer_0/self_attention/relative_attention_bias': (
            'mpnet.encoder.relative_attention_bias.weight',
        ),
        **_norm('encoder/layernorm_embedding', f'{embeddings}.LayerNorm'),
        **_linear('pooler_dense', 'classifier.dense'),
    }
    for n in range(layers):
        name = f'mpnet.encoder.layer.{n}'
        parts = [f'{name}.attention.attn.{p}' for p in 'qkv']
        weights |= _encoder_layer(n, name, parts, 'attn.o', 'LayerNorm')
    return weights


def t5_weights(layers: Mapping[str, int], is_gated: bool) -> Weights:
    """
    The weights of both stacks, without embeddings and output.

    :param layers: the number of layers of ``encoder`` and ``decoder``.
    """
    weights: Weights = {}
    for stack, count in layers.items():
        weights[f'{stack}/layer_norm/gamma'] = (f'{stack}.final_layer_norm.weight',)
        bias = 'block.0.layer.0.SelfAttention.relative_attention_bias.weight'
        place = f'{stack}/layer_0/self_attention/relative_attention_bias'
        weights[place] = (f'{stack}.{bias}',)
        for n in range(count):
            name, place = f'{stack}.block.{n}.layer', f'{stack}/layer_{n}'
            attention = f'{name}.0.SelfAttention'
            self_attention = f'{place}/self_attention'
            weights |= {
                f'{self_attention}/linear_0/weight': _t5_names(attention, 'qkv'),
                f'{self_attention}/linear_1/weight': _t5_names(attention, 'o'),
                f'{self_attention}/layer_norm/gamma': (f'{name}.0.layer_norm.weight',),
            }
            last = 1
            if stack == 'decoder':
                last, cross = 2, f'{place}/attention'
                attention = f'{name}.1.EncDecAttention'
                weights |= {
                    f'{cross}/linear_0/weight': _t5_names(attention, 'q'),
                    f'{cross}/linear_1/weight': _t5_names(attention, 'kv'),
                    f'{cross}/linear_2/weight': _t5_names(attention, 'o'),
                    f'{cross}/layer_norm/gamma': (f'{name}.1.layer_norm.weight',),
                }
            dense, ffn = f'{name}.{last}.DenseReluDense', f'{place}/ffn'
            activated = 'wi_0' if is_gated else 'wi'
            weights[f'{ffn}/linear_0/weight'] = (f'{dense}.{activated}.weight',)
            if is_gated:
                weights[f'{ffn}/linear_0_noact/weight'] = (f'{dense}.wi_1.weight',)
            weights[f'{ffn}/linear_1/weight'] = (f'{dense}.wo.weight',)
            weights[f'{ffn}/layer_norm/gamma'] = (f'{name}.{last}.layer_norm.weight',)
    return weights


def _t5_names(attention: str, parts: str) -> tuple[str, ...]:
    return tuple(f'{attention}.{part}.weight' for part in parts)


def _encoder_layer(
    layer: int, name: str, projections: Sequence[str], output: str, norm: str
) -> Weights:
    place, attention = f'encoder/layer_{layer}', f'{name}.attention'
    return {
        **_linear(f'{place}/self_attention/linear_0', *projections),
        **_linear(f'{place}/self_attention/linear_1', f'{attention}.{output}'),
        **_norm(f'{place}/self_attention/layer_norm', f'{attention}.{norm}'),
        **_linear(f'{place}/ffn/linear_0', f'{name}.intermediate.dense'),
        **_linear(f'{place}/ffn/linear_1', f'{name}.output.dense'),
        **_norm(f'{place}/ffn/layer_norm', f'{name}.output.LayerNorm'),
    }


def _linear(place: str, *names: str) -> Weights:
    return {
        f'{place}/weight': tuple(f'{name}.weight' for name in names),
        f'{place}/bias': tuple(f'{name}.bias' for name in names),
    }


def _norm(place: str, name: str) -> Weights:
    return {f'{place}/gamma': (f'{name}.weight',), f'{place}/beta': (f'{name}.bias',)}


def convert_weights(tensors: Tensors, config: JsonObject) -> Model:
    """
    Convert weights for CTranslate2.

    :param tensors: in their stored form, by the names of transformers.
    :param config: a configuration with one of :data:`OUTPUT_LAYERS`.
    :raises ValueError: if a weight is missing.
    """
    name = config['architectures'][0]
    if name.startswith('T5'):
        return _convert_t5(tensors, config)
    arrays = _encoder_settings(config['num_attention_heads'], GELU, ADD, False)
    layers = config['num_hidden_layers']
    if name.startswith('MPNet'):
        weights = mpnet_weights(layers)
    else:
        base = '' if name == 'BertModel' else 'bert.'
        has_pooler = f'{base}pooler.dense.bias' in tensors
        weights = bert_weights(layers, base, has_pooler)
    _add_weights(arrays, tensors, weights)
    aliases: dict[str, str] = {}
    if name.startswith('MPNet'):
        _share_distances(arrays, aliases, 'encoder', layers, MPNET_MAX_DISTANCE)
    if 'pooler_dense/weight' in arrays:
        arrays['pooler_activation'] = np.int8(TANH)
    return Model(ENCODER, REVISIONS[ENCODER], arrays, aliases)


def _convert_t5(tensors: Tensors, config: JsonObject) -> Model:
    projection = config['feed_forward_proj']
    activation = T5_ACTIVATIONS[projection]
    arrays = _encoder_settings(config['num_heads'], activation, 0, True)
    aliases: dict[str, str] = {}
    for name, value in {
        'pre_norm': True, 'scale_embeddings': False, 'alibi': False,
        'alibi_use_positive_positions': False, 'scale_alibi': False,
        'start_from_zero_embedding': False, 'activation': activation,
    }.items():  # fmt: skip
        arrays[f'decoder/{name}'] = np.int8(value)
    arrays['decoder/num_heads'] = np.int16(config['num_heads'])
    arrays['decoder/alignment_layer'] = np.int16(-1)
    arrays['decoder/alignment_heads'] = np.int16(1)
    _add_arrays(arrays, 'encoder/embeddings_0', _stack(tensors, ['shared.weight']))
    # CTranslate2 also resolves the scale of an alias.
    aliases['decoder/embeddings/weight'] = 'encoder/embeddings_0/weight'
    is_tied = config.get('tie_word_embeddings', True)
    has_output = {'lm_head.weight', 'lm_head.weight.q'} & set(tensors)
    output = 'lm_head.weight' if has_output or not is_tied else 'shared.weight'
    _add_arrays(arrays, 'decoder/projection', _stack(tensors, [output]))
    if config.get('scale_decoder_outputs', is_tied):
        arrays['decoder/scale_outputs'] = np.float32(config['d_model'] ** -0.5)
    layers = {'encoder': config['num_layers'], 'decoder': config['num_decoder_layers']}
    weights = t5_weights(layers, projection.startswith('gated'))
    _add_weights(arrays, tensors, weights)
    for place in weights:
        if place.endswith('attention/linear_0/weight'):
            attention = place.removesuffix('/linear_0/weight')
            arrays[f'{attention}/queries_scale'] = np.float32(1)
    distance = config.get('relative_attention_max_distance', 128)
    for stack, count in layers.items():
        _share_distances(arrays, aliases, stack, count, distance)
    return Model(SEQ2SEQ, REVISIONS[SEQ2SEQ], arrays, aliases)


def _encoder_settings(
    heads: int, activation: int, merge: int, pre_norm: bool
) -> dict[str, Any]:
    return {
        'encoder/pre_norm': np.int8(pre_norm),
        'encoder/activation': np.int8(activation),
        'encoder/embeddings_merge': np.int8(merge),
        'encoder/scale_embeddings': np.int8(0),
        'encoder/multi_query_attention': np.int8(0),
        'encoder/num_heads': np.int16(heads),
    }


def _add_weights(arrays: dict[str, Any], tensors: Tensors, weights: Weights) -> None:
    for place, names in weights.items():
        if place.endswith('/weight'):
            _add_arrays(arrays, place.removesuffix('/weight'), _stack(tensors, names))
        else:
            arrays[place] = np.concatenate([read_whole(tensors, n) for n in names])


def _add_arrays(arrays: dict[str, Any], place: str, values: Tensors) -> None:
    arrays.update({f'{place}/{name}': array for name, array in values.items()})


def _share_distances(
    arrays: dict[str, Any],
    aliases: dict[str, str],
    stack: str,
    layers: int,
    max_distance: int,
) -> None:
    """Let all layers of a stack share the first one's bias for distances."""
    for n in range(layers):
        place = f'{stack}/layer_{n}/self_attention'
        arrays[f'{place}/relative_attention_max_distance'] = np.int32(max_distance)
        if n:
            name = f'{stack}/layer_0/self_attention/relative_attention_bias'
            aliases[f'{place}/relative_attention_bias'] = name
