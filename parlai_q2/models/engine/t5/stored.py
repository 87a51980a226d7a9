"""
Builds a T5 for beam search directly from int8 weights: the parts of a Hugging Face
model that :class:`~parlai_q2.models.engine.t5.search.T5Search` uses, under the same
names.
"""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Callable

import torch
from torch.nn.functional import rms_norm

from parlai_q2.models.engine.stored import PositionBias, StoredModel
from parlai_q2.models.engine.t5.layers import gelu_new
from parlai_q2.models.folder import folder_generation

if TYPE_CHECKING:
    from transformers import PretrainedConfig

ARCHITECTURE = 'T5ForConditionalGeneration'
# A configuration without these is of an old folder; transformers knows their values.
NEEDED = (
    'd_ff',
    'd_kv',
    'd_model',
    'layer_norm_epsilon',
    'num_decoder_layers',
    'num_heads',
    'num_layers',
    'relative_attention_max_distance',
    'relative_attention_num_buckets',
    'vocab_size',
)
ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    'gated-gelu': gelu_new,
    'relu': torch.relu,
}


def computable(config: 'PretrainedConfig') -> bool:
    """Whether :func:`stored_t5` can build a model."""
    return (
        config.architectures == [ARCHITECTURE]
        and getattr(config, 'feed_forward_proj', None) in ACTIVATIONS
        and not config.tie_word_embeddings
        and all(hasattr(config, name) for name in NEEDED)
    )


def stored_t5(stored: StoredModel) -> Any:
    """
    Build a T5 without its loss, its training and its own search.

    :return: ``encoder``, ``decoder``, ``lm_head``, ``config``, ``generation_config``,
        ``device``.
    """
    config = stored.config
    words = stored.embedding('shared', config.vocab_size, config.d_model)
    return SimpleNamespace(
        encoder=_stack(stored, 'encoder', words, config.num_layers),
        decoder=_stack(stored, 'decoder', words, config.num_decoder_layers),
        lm_head=_linear(stored, 'lm_head', config.vocab_size, config.d_model),
        config=config,
        generation_config=folder_generation(stored.folder, config),
        device=torch.device('cpu'),
    )


def _stack(stored: StoredModel, name: str, words: Any, layers: int) -> Any:
    config, decoder = stored.config, name == 'decoder'
    norm = _Norm(stored, f'{name}.final_layer_norm.weight')
    blocks = []
    for n in range(layers):
        block = f'{name}.block.{n}.layer'
        attention = _attention(stored, f'{block}.0.SelfAttention')
        if not n:
            table = stored.embedding(
                f'{block}.0.SelfAttention.relative_attention_bias',
                config.relative_attention_num_buckets,
                config.num_heads,
            )
            attention.compute_bias = PositionBias(
                table,
                config.relative_attention_num_buckets,
                config.relative_attention_max_distance,
                both=not decoder,
            )
        parts = [SimpleNamespace(SelfAttention=attention)]
        if decoder:
            cross = _attention(stored, f'{block}.1.EncDecAttention')
            parts.append(SimpleNamespace(EncDecAttention=cross))
        dense = _dense(stored, f'{block}.{len(parts)}.DenseReluDense')
        parts.append(SimpleNamespace(DenseReluDense=dense))
        for place, part in enumerate(parts):
            part.layer_norm = _Norm(stored, f'{block}.{place}.layer_norm.weight')
        blocks.append(SimpleNamespace(layer=parts))
    return SimpleNamespace(embed_tokens=words, final_layer_norm=norm, block=blocks)


def _attention(stored: StoredModel, name: str) -> Any:
    config = stored.config
    inner = config.num_heads * config.d_kv
    parts = {n: _linear(stored, f'{name}.{n}', inner, config.d_model) for n in 'qkv'}
    out = _linear(stored, f'{name}.o', config.d_model, inner)
    return SimpleNamespace(**parts, o=out, n_heads=config.num_heads)


def _dense(stored: StoredModel, name: str) -> Any:
    config = stored.config
    act = ACTIVATIONS[config.feed_forward_proj]
    into = ('wi_0', 'wi_1') if config.feed_forward_proj == 'gated-gelu' else ('wi',)
    parts = {
        part: _linear(stored, f'{name}.{part}', config.d_ff, config.d_model)
        for part in into
    }
    out = _linear(stored, f'{name}.wo', config.d_model, config.d_ff)
    return SimpleNamespace(**parts, wo=out, act=act)


def _linear(stored: StoredModel, name: str, out: int, into: int) -> Any:
    return stored.linear(name, out=out, into=into, bias=False)


class _Norm:
    """T5's layer norm, without shift and mean (Zhang and Sennrich 2019, 1910.07467)."""

    def __init__(self, stored: StoredModel, name: str):
        self.weight = stored.vector(name, stored.config.d_model)
        self.epsilon = stored.config.layer_norm_epsilon

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        return rms_norm(x, self.weight.shape, self.weight, self.epsilon)
