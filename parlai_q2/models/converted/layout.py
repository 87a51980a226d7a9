"""
Which weight of an architecture has which name in a CTranslate2 model file: BERT, MPNet
and T5, from the names that transformers gives them.

Weights come as int8 folders store them: a matrix ``<name>`` as
``<name>.q`` (int8) and ``<name>.s`` (a scale for each row, ``w = q * s``), which are
CTranslate2's ``weight`` and ``weight_scale`` with ``weight_scale = 1 / s``, so nothing
is rounded again. What is stored as floats stays so.

MPNet is not among the library's own converters. Its bias for distances is T5's (Raffel
et al. 2020), and its positions are a second embedding, like BERT's token
types.
"""

from functools import partial
from typing import Any, Callable, Mapping, Optional, Sequence

import numpy as np

from parlai_q2.models.converted.binary import Model

Tensors = Mapping[str, np.ndarray]
# Matrices, and numbers of numpy's types.
Arrays = dict[str, Any]

ENCODER, SEQ2SEQ = 'TransformerEncoderSpec', 'TransformerSpec'
REVISIONS = {ENCODER: 1, SEQ2SEQ: 7}
# The library's numbers for activations, and for the sum of two embeddings.
RELU, GELU_TANH, GELU, TANH = 0, 1, 3, 5
ADD = 1
# transformers' MPNet has this farthest distance whatever its configuration says.
MPNET_FARTHEST = 128
T5_ACTIVATIONS = {'gated-gelu': (GELU_TANH, True), 'relu': (RELU, False)}


class Stored:
    """Tensors in their stored form, by name; one that is missing is a ValueError."""

    def __init__(self, tensors: Tensors):
        self.tensors = tensors

    def whole(self, name: str) -> np.ndarray:
        """A vector or matrix in fp32."""
        if name in self.tensors:
            return np.asarray(self.tensors[name], np.float32)
        quantised, scale = self._get(f'{name}.q'), self._get(f'{name}.s')
        return quantised.astype(np.float32) * scale.astype(np.float32)[:, None]

    def matrix(self, *names: str, rows: Optional[Sequence[int]] = None) -> Arrays:
        """Matrices one below another: ``weight`` and, if in int8, ``weight_scale``."""
        if all(f'{name}.q' in self.tensors for name in names):
            weight = np.concatenate([self._get(f'{name}.q') for name in names])
            scale = np.concatenate([self._get(f'{name}.s') for name in names])
            scale = np.float32(1) / scale.astype(np.float32)
            found = {'weight': weight, 'weight_scale': scale}
        else:
            found = {'weight': np.concatenate([self.whole(name) for name in names])}
        if rows is not None:
            found = {name: array[list(rows)] for name, array in found.items()}
        return found

    def linear(self, *names: str, bias: bool = True) -> Arrays:
        found = self.matrix(*(f'{name}.weight' for name in names))
        if bias:
            parts = [self.whole(f'{name}.bias') for name in names]
            found['bias'] = np.concatenate(parts)
        return found

    def norm(self, name: str, bias: bool = True) -> Arrays:
        found = {'gamma': self.whole(f'{name}.weight')}
        return {**found, 'beta': self.whole(f'{name}.bias')} if bias else found

    def _get(self, name: str) -> np.ndarray:
        if name not in self.tensors:
            raise ValueError(f'{name} is missing')
        return self.tensors[name]


def bert(tensors: Tensors, config: Mapping[str, Any], base: str = 'bert.') -> Model:
    """
    BERT for classification (with its pooling layer) or for question answering.

    :param base: what the names of its weights begin with, with the dot.
    """
    stored, words = Stored(tensors), f'{base}embeddings'
    arrays = _encoder(config, pre_norm=False, activation=GELU)
    _put(
        arrays, 'encoder/embeddings_0', stored.matrix(f'{words}.word_embeddings.weight')
    )
    kinds = stored.matrix(f'{words}.token_type_embeddings.weight')
    _put(arrays, 'encoder/embeddings_1', kinds)
    positions = stored.whole(f'{words}.position_embeddings.weight')
    arrays['encoder/position_encodings/encodings'] = positions
    _put(arrays, 'encoder/layernorm_embedding', stored.norm(f'{words}.LayerNorm'))
    for n in range(config['num_hidden_layers']):
        old, new = f'{base}encoder.layer.{n}', f'encoder/layer_{n}'
        names = ('query', 'key', 'value')
        projected = [f'{old}.attention.self.{name}' for name in names]
        _put_layer(arrays, stored, old, new, projected, 'output.dense', 'output.')
    if f'{base}pooler.dense.bias' in tensors:
        _pooler(arrays, stored.linear(f'{base}pooler.dense'))
    return Model(ENCODER, REVISIONS[ENCODER], arrays)


def mpnet(tensors: Tensors, config: Mapping[str, Any]) -> Model:
    """MPNet for classification; its dense layer before the output is the pooling."""
    stored, words = Stored(tensors), 'mpnet.embeddings'
    arrays = _encoder(config, pre_norm=False, activation=GELU)
    _put(
        arrays, 'encoder/embeddings_0', stored.matrix(f'{words}.word_embeddings.weight')
    )
    positions = stored.matrix(f'{words}.position_embeddings.weight')
    _put(arrays, 'encoder/embeddings_1', positions)
    _put(arrays, 'encoder/layernorm_embedding', stored.norm(f'{words}.LayerNorm'))
    aliases: dict[str, str] = {}
    bias = stored.whole('mpnet.encoder.relative_attention_bias.weight')
    for n in range(config['num_hidden_layers']):
        old, new = f'mpnet.encoder.layer.{n}', f'encoder/layer_{n}'
        projected = [f'{old}.attention.attn.{name}' for name in 'qkv']
        _put_layer(arrays, stored, old, new, projected, 'attn.o', '')
        _distances(arrays, aliases, f'{new}/self_attention', n, bias, MPNET_FARTHEST)
    _pooler(arrays, stored.linear('classifier.dense'))
    return Model(ENCODER, REVISIONS[ENCODER], arrays, aliases)


def t5(
    tensors: Tensors, config: Mapping[str, Any], keep: Optional[Sequence[int]] = None
) -> Model:
    """
    T5.

    :param keep: the ids that the decoder can write; None for all. Its embeddings and
        output have these rows alone.
    """
    activation, gated = T5_ACTIVATIONS[config['feed_forward_proj']]
    stored = Stored(tensors)
    aliases: dict[str, str] = {}
    arrays = _encoder(config, pre_norm=True, activation=activation, merge=0)
    _scalars(
        arrays, 'decoder', pre_norm=True, scale_embeddings=False, alibi=False,
        alibi_use_positive_positions=False, scale_alibi=False,
        start_from_zero_embedding=False, activation=activation,
    )  # fmt: skip
    for name, value in (('num_heads', config['num_heads']), ('alignment_layer', -1)):
        arrays[f'decoder/{name}'] = np.int16(value)
    arrays['decoder/alignment_heads'] = np.int16(1)
    _put(arrays, 'encoder/embeddings_0', stored.matrix('shared.weight'))
    if keep is None:
        # The library takes the scale of what an alias stands for, too.
        aliases['decoder/embeddings/weight'] = 'encoder/embeddings_0/weight'
    else:
        rows = stored.matrix('shared.weight', rows=keep)
        _put(arrays, 'decoder/embeddings', rows)
    tied = config.get('tie_word_embeddings', True)
    head = (
        'shared.weight' if tied and not _has(tensors, 'lm_head') else 'lm_head.weight'
    )
    _put(arrays, 'decoder/projection', stored.matrix(head, rows=keep))
    if config.get('scale_decoder_outputs', tied):
        arrays['decoder/scale_outputs'] = np.float32(config['d_model'] ** -0.5)
    counts = {'encoder': config['num_layers'], 'decoder': config['num_decoder_layers']}
    for stack, count in counts.items():
        norm = stored.norm(f'{stack}.final_layer_norm', bias=False)
        _put(arrays, f'{stack}/layer_norm', norm)
        first = f'{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight'
        bias = stored.whole(first)
        for n in range(count):
            old, new = f'{stack}.block.{n}.layer', f'{stack}/layer_{n}'
            _t5_attention(arrays, stored, old, new)
            place, farthest = f'{new}/self_attention', 'relative_attention_max_distance'
            _distances(arrays, aliases, place, n, bias, config.get(farthest, 128))
            if stack == 'decoder':
                _t5_attention(arrays, stored, old, new, across=True)
            _t5_feed(arrays, stored, f'{old}.{1 + (stack == "decoder")}', new, gated)
    return Model(SEQ2SEQ, REVISIONS[SEQ2SEQ], arrays, aliases)


# The layout of each architecture, and the output layer that is on top of it; none of
# models that give vectors of texts.
LAYOUTS: dict[str, tuple[Callable[..., Model], str]] = {
    'BertModel': (partial(bert, base=''), ''),
    'BertForSequenceClassification': (bert, 'classifier'),
    'BertForQuestionAnswering': (bert, 'qa_outputs'),
    'MPNetForSequenceClassification': (mpnet, 'classifier.out_proj'),
    'T5ForConditionalGeneration': (t5, ''),
}


def _has(tensors: Tensors, name: str) -> bool:
    return f'{name}.weight' in tensors or f'{name}.weight.q' in tensors


def _put(arrays: Arrays, place: str, found: Arrays) -> None:
    arrays.update({f'{place}/{name}': array for name, array in found.items()})


def _scalars(arrays: Arrays, place: str, **values: int) -> None:
    arrays.update({f'{place}/{name}': np.int8(v) for name, v in values.items()})


def _encoder(
    config: Mapping[str, Any], pre_norm: bool, activation: int, merge: int = ADD
) -> Arrays:
    arrays: Arrays = {}
    _scalars(
        arrays, 'encoder', pre_norm=pre_norm, activation=activation,
        embeddings_merge=merge, scale_embeddings=False, multi_query_attention=False,
    )  # fmt: skip
    heads = config['num_heads'] if pre_norm else config['num_attention_heads']
    arrays['encoder/num_heads'] = np.int16(heads)
    return arrays


def _pooler(arrays: Arrays, dense: Arrays) -> None:
    _put(arrays, 'pooler_dense', dense)
    arrays['pooler_activation'] = np.int8(TANH)


def _put_layer(
    arrays: Arrays,
    stored: Stored,
    old: str,
    new: str,
    projected: Sequence[str],
    out: str,
    norm: str,
) -> None:
    attention = f'{new}/self_attention'
    _put(arrays, f'{attention}/linear_0', stored.linear(*projected))
    _put(arrays, f'{attention}/linear_1', stored.linear(f'{old}.attention.{out}'))
    read = stored.norm(f'{old}.attention.{norm}LayerNorm')
    _put(arrays, f'{attention}/layer_norm', read)
    _put(arrays, f'{new}/ffn/linear_0', stored.linear(f'{old}.intermediate.dense'))
    _put(arrays, f'{new}/ffn/linear_1', stored.linear(f'{old}.output.dense'))
    _put(arrays, f'{new}/ffn/layer_norm', stored.norm(f'{old}.output.LayerNorm'))


def _distances(
    arrays: Arrays,
    aliases: dict[str, str],
    place: str,
    layer: int,
    bias: np.ndarray,
    farthest: int,
) -> None:
    """The bias for distances, which all layers share, [buckets, heads]."""
    name = f'{place}/relative_attention_bias'
    if layer:
        aliases[name] = name.replace(f'layer_{layer}/', 'layer_0/')
    else:
        arrays[name] = bias
    arrays[f'{place}/relative_attention_max_distance'] = np.int32(farthest)


def _t5_attention(
    arrays: Arrays, stored: Stored, old: str, new: str, across: bool = False
) -> None:
    number, name = (1, 'EncDecAttention') if across else (0, 'SelfAttention')
    place = f'{new}/attention' if across else f'{new}/self_attention'
    parts = [f'{old}.{number}.{name}.{part}' for part in 'qkvo']
    groups = [parts[:1], parts[1:3], parts[3:]] if across else [parts[:3], parts[3:]]
    for n, group in enumerate(groups):
        _put(arrays, f'{place}/linear_{n}', stored.linear(*group, bias=False))
    norm = stored.norm(f'{old}.{number}.layer_norm', bias=False)
    _put(arrays, f'{place}/layer_norm', norm)
    arrays[f'{place}/queries_scale'] = np.float32(1)


def _t5_feed(arrays: Arrays, stored: Stored, old: str, new: str, gated: bool) -> None:
    place, inside = f'{new}/ffn', f'{old}.DenseReluDense'
    first = 'wi_0' if gated else 'wi'
    _put(arrays, f'{place}/linear_0', stored.linear(f'{inside}.{first}', bias=False))
    if gated:
        second = stored.linear(f'{inside}.wi_1', bias=False)
        _put(arrays, f'{place}/linear_0_noact', second)
    _put(arrays, f'{place}/linear_1', stored.linear(f'{inside}.wo', bias=False))
    _put(arrays, f'{place}/layer_norm', stored.norm(f'{old}.layer_norm', bias=False))
