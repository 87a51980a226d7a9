"""
Converted BERT, MPNet and T5 as models of transformers in fp32: to train from them, to
compare engines, and for devices that CTranslate2 does not know.
"""

from typing import Any

import numpy as np
import torch
import transformers

from parlai_q2.models.converted import binary
from parlai_q2.models.converted.binary import Model
from parlai_q2.models.converted.folder import MODEL, Converted
from parlai_q2.models.converted.layout import RELU

# What a word that a decoder cannot write has added to its logit.
NEVER = -1e9
State = dict[str, np.ndarray]


class _Weights:
    """A model file's weights in fp32, by their places."""

    def __init__(self, model: Model):
        self.model = model

    def __call__(self, place: str) -> np.ndarray:
        array = self.model[place]
        scale = f'{self.model.aliases.get(place, place)}_scale'
        if array.dtype == 'int8' and scale in self.model.arrays:
            return array.astype(np.float32) / self.model[scale][:, None]
        return np.asarray(array, np.float32)

    def layers(self, stack: str) -> int:
        number = 0
        while f'{stack}/layer_{number}/ffn/linear_0/weight' in self.model:
            number += 1
        return number


def as_transformers(converted: Converted, auto_class: Any) -> Any:
    """
    A model of transformers.

    :param auto_class: what is wanted, e.g. ``AutoModelForSequenceClassification``, or
        one class of models.
    :raises ValueError: if the model is another, or of an architecture unknown here.
    """
    weights = _Weights(binary.read(converted.files[MODEL]))
    names = converted.config.get('architectures') or ['T5ForConditionalGeneration']
    make = {'Bert': _bert, 'MPNe': _mpnet, 'T5Fo': _t5}.get(str(names[0])[:4])
    if make is None:
        raise ValueError(f'a {names[0]} is not turned into a model of transformers')
    kind = getattr(transformers, names[0])
    mapping = getattr(auto_class, '_model_mapping', {kind.config_class: auto_class})
    fitting = mapping.get(kind.config_class, ())
    fitting = fitting if isinstance(fitting, (tuple, list)) else (fitting,)
    if kind not in fitting:
        raise ValueError(f'it is a {names[0]}, which is none of {auto_class.__name__}')
    config, state = make(weights, converted)
    config.architectures = list(names)
    model = kind(config)
    if 'lm_head.bias' in state:
        width = state['lm_head.weight'].shape[1]
        model.lm_head = torch.nn.Linear(width, config.vocab_size)
    tensors = {name: torch.tensor(array) for name, array in state.items()}
    missing, unexpected = model.load_state_dict(tensors, strict=False)
    wrong = [n for n in (*missing, *unexpected) if not n.endswith('position_ids')]
    if wrong:
        raise ValueError(f'it does not fit a {names[0]}: {wrong[0]}')
    return model


def _bert(weights: _Weights, converted: Converted) -> tuple[Any, State]:
    state: State = {}
    _embeddings(state, weights, 'bert')
    names = ('query', 'key', 'value')
    for n in range(weights.layers('encoder')):
        name = f'bert.encoder.layer.{n}'
        projected = [f'{name}.attention.self.{part}' for part in names]
        _layer(state, weights, n, name, projected, 'output.dense', 'output.')
    kinds = weights('encoder/embeddings_1/weight')
    positions = weights('encoder/position_encodings/encodings')
    state['bert.embeddings.token_type_embeddings.weight'] = kinds
    state['bert.embeddings.position_embeddings.weight'] = positions
    (architecture,) = converted.config['architectures']
    output = 'qa_outputs'
    if 'pooler_dense/weight' in weights.model:
        _linear(state, weights, 'pooler_dense', 'bert.pooler.dense')
    if 'Sequence' in architecture:
        output = 'classifier'
    if converted.head:
        _head(state, converted, output)
    else:
        state = {name.removeprefix('bert.'): array for name, array in state.items()}
    config = transformers.BertConfig(
        **_sizes(weights, converted),
        max_position_embeddings=len(positions),
        type_vocab_size=len(kinds),
    )
    return config, state


def _mpnet(weights: _Weights, converted: Converted) -> tuple[Any, State]:
    state: State = {}
    _embeddings(state, weights, 'mpnet')
    for n in range(weights.layers('encoder')):
        name = f'mpnet.encoder.layer.{n}'
        projected = [f'{name}.attention.attn.{part}' for part in 'qkv']
        _layer(state, weights, n, name, projected, 'attn.o', '')
    positions = weights('encoder/embeddings_1/weight')
    bias = weights('encoder/layer_0/self_attention/relative_attention_bias')
    state['mpnet.embeddings.position_embeddings.weight'] = positions
    state['mpnet.encoder.relative_attention_bias.weight'] = bias
    _linear(state, weights, 'pooler_dense', 'classifier.dense')
    _head(state, converted, 'classifier.out_proj')
    config = transformers.MPNetConfig(
        **_sizes(weights, converted),
        max_position_embeddings=len(positions),
        relative_attention_num_buckets=len(bias),
    )
    return config, state


def _sizes(weights: _Weights, converted: Converted) -> dict[str, Any]:
    words = weights.model['encoder/embeddings_0/weight']
    said = converted.config
    found = {
        'vocab_size': words.shape[0],
        'hidden_size': words.shape[1],
        'num_hidden_layers': weights.layers('encoder'),
        'num_attention_heads': int(weights.model['encoder/num_heads']),
        'intermediate_size': len(weights.model['encoder/layer_0/ffn/linear_0/weight']),
        'layer_norm_eps': said.get('layer_norm_epsilon') or 1e-12,
    }
    if converted.head:
        found['num_labels'] = len(converted.head['bias'])
    if said.get('id2label'):
        found['id2label'] = {int(n): name for n, name in said['id2label'].items()}
        found['label2id'] = {name: n for n, name in found['id2label'].items()}
    if said.get('pad_token_id') is not None:
        found['pad_token_id'] = said['pad_token_id']
    return found


def _embeddings(state: State, weights: _Weights, base: str) -> None:
    words = weights('encoder/embeddings_0/weight')
    state[f'{base}.embeddings.word_embeddings.weight'] = words
    _norm(state, weights, 'encoder/layernorm_embedding', f'{base}.embeddings.LayerNorm')


def _layer(
    state: State,
    weights: _Weights,
    layer: int,
    name: str,
    projected: list[str],
    out: str,
    norm: str,
) -> None:
    place = f'encoder/layer_{layer}'
    joined = f'{place}/self_attention/linear_0'
    for part in ('weight', 'bias'):
        arrays = np.split(weights(f'{joined}/{part}'), 3)
        for own, array in zip(projected, arrays, strict=True):
            state[f'{own}.{part}'] = array
    attention = f'{name}.attention'
    _linear(state, weights, f'{place}/self_attention/linear_1', f'{attention}.{out}')
    read = f'{attention}.{norm}LayerNorm'
    _norm(state, weights, f'{place}/self_attention/layer_norm', read)
    _linear(state, weights, f'{place}/ffn/linear_0', f'{name}.intermediate.dense')
    _linear(state, weights, f'{place}/ffn/linear_1', f'{name}.output.dense')
    _norm(state, weights, f'{place}/ffn/layer_norm', f'{name}.output.LayerNorm')


def _linear(state: State, weights: _Weights, place: str, name: str) -> None:
    state[f'{name}.weight'] = weights(f'{place}/weight')
    state[f'{name}.bias'] = weights(f'{place}/bias')


def _norm(state: State, weights: _Weights, place: str, name: str) -> None:
    state[f'{name}.weight'] = weights(f'{place}/gamma')
    state[f'{name}.bias'] = weights(f'{place}/beta')


def _head(state: State, converted: Converted, name: str) -> None:
    for part in ('weight', 'bias'):
        state[f'{name}.{part}'] = converted.head[part]


def _t5(weights: _Weights, converted: Converted) -> tuple[Any, State]:
    model = weights.model
    words = weights('encoder/embeddings_0/weight')
    names = ('shared', 'encoder.embed_tokens', 'decoder.embed_tokens')
    state: State = {f'{name}.weight': words for name in names}
    gated = 'encoder/layer_0/ffn/linear_0_noact/weight' in model
    for stack in ('encoder', 'decoder'):
        norm = weights(f'{stack}/layer_norm/gamma')
        state[f'{stack}.final_layer_norm.weight'] = norm
        bias = weights(f'{stack}/layer_0/self_attention/relative_attention_bias')
        first = f'{stack}.block.0.layer.0.SelfAttention.relative_attention_bias'
        state[f'{first}.weight'] = bias
        for n in range(weights.layers(stack)):
            _t5_layer(state, weights, stack, n, gated)
    inner = model['encoder/layer_0/self_attention/linear_1/weight'].shape[1]
    heads = int(model['encoder/num_heads'])
    source, target = converted.source(), converted.target()
    ids = {word: n for n, word in enumerate(source)}
    output = weights('decoder/projection/weight')
    if target != source:
        rows = np.array([ids[word] for word in target])
        state['lm_head.bias'] = np.full(len(source), NEVER, np.float32)
        state['lm_head.bias'][rows] = 0
        whole = np.zeros((len(source), output.shape[1]), np.float32)
        whole[rows] = output
        output = whole
    state['lm_head.weight'] = output
    place = 'encoder/layer_0/self_attention/relative_attention_max_distance'
    said = converted.config
    config = transformers.T5Config(
        vocab_size=len(source),
        d_model=words.shape[1],
        d_kv=inner // heads,
        d_ff=len(model['encoder/layer_0/ffn/linear_0/weight']),
        num_layers=weights.layers('encoder'),
        num_decoder_layers=weights.layers('decoder'),
        num_heads=heads,
        relative_attention_num_buckets=len(bias),
        relative_attention_max_distance=int(model[place]),
        layer_norm_epsilon=said.get('layer_norm_epsilon') or 1e-6,
        feed_forward_proj='relu'
        if model['encoder/activation'] == RELU
        else 'gated-gelu',
        tie_word_embeddings='decoder/scale_outputs' in model,
        decoder_start_token_id=ids[said['decoder_start_token']],
        eos_token_id=ids[said['eos_token']],
        pad_token_id=ids[said['bos_token']],
    )
    return config, state


def _t5_layer(
    state: State, weights: _Weights, stack: str, layer: int, gated: bool
) -> None:
    place, name = f'{stack}/layer_{layer}', f'{stack}.block.{layer}.layer'
    own = f'{place}/self_attention'
    q, k, v = np.split(weights(f'{own}/linear_0/weight'), 3)
    out = weights(f'{own}/linear_1/weight')
    _t5_attention(state, f'{name}.0.SelfAttention', q, k, v, out)
    state[f'{name}.0.layer_norm.weight'] = weights(f'{own}/layer_norm/gamma')
    last = 1
    if stack == 'decoder':
        last, across = 2, f'{place}/attention'
        q, out = (weights(f'{across}/linear_{n}/weight') for n in (0, 2))
        k, v = np.split(weights(f'{across}/linear_1/weight'), 2)
        _t5_attention(state, f'{name}.1.EncDecAttention', q, k, v, out)
        state[f'{name}.1.layer_norm.weight'] = weights(f'{across}/layer_norm/gamma')
    inside = f'{name}.{last}.DenseReluDense'
    first = 'wi_0' if gated else 'wi'
    state[f'{inside}.{first}.weight'] = weights(f'{place}/ffn/linear_0/weight')
    if gated:
        state[f'{inside}.wi_1.weight'] = weights(f'{place}/ffn/linear_0_noact/weight')
    state[f'{inside}.wo.weight'] = weights(f'{place}/ffn/linear_1/weight')
    state[f'{name}.{last}.layer_norm.weight'] = weights(f'{place}/ffn/layer_norm/gamma')


def _t5_attention(state: State, name: str, *parts: np.ndarray) -> None:
    for letter, array in zip('qkvo', parts, strict=True):
        state[f'{name}.{letter}.weight'] = array
