"""
Runs BERT (Devlin et al. 2019, arXiv 1810.04805) and MPNet (Song et al. 2020, arXiv
2004.09297), which adds a bias for the distance of two tokens, from int8 weights. BERT's
operations are those of transformers, bit for bit; MPNet's are, up to rounding.

Batches of several padded lengths share every product with weights; only attention is
computed batch by batch. The few inputs of one response usually differ in length, and a
pass for each would cost more in calls than in arithmetic.

Letters: N tokens in all batches, B inputs in a batch, L their padded length, H heads, D
features per head, M features per token.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional

import torch
from torch.nn.functional import gelu, layer_norm, scaled_dot_product_attention

from parlai_q2.errors import ConfigError
from parlai_q2.models.device import inference
from parlai_q2.models.engine.stored import PositionBias, StoredModel, together

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Tensors = Mapping[str, torch.Tensor]
# A configuration without these is of an old folder; transformers knows their values.
NEEDED = (
    'hidden_size',
    'intermediate_size',
    'layer_norm_eps',
    'max_position_embeddings',
    'num_attention_heads',
    'num_hidden_layers',
    'vocab_size',
)
# The most tokens in batches that are read together: enough for fast products, few
# enough that intermediate results stay in the CPU's cache.
TOKENS_AT_ONCE = 1024
# transformers' MPNet has these whatever its configuration says.
MPNET_BUCKETS, MPNET_FARTHEST = 32, 128


def engine_of(config: 'PretrainedConfig', auto_class: str) -> Optional[type['Bert']]:
    """The class that can run a model in place of transformers' auto class, if any."""
    engine = ENGINES.get((auto_class, (config.architectures or [''])[0]))
    runs = (
        engine is not None
        and getattr(config, 'hidden_act', None) == 'gelu'
        and getattr(config, 'position_embedding_type', 'absolute') == 'absolute'
        and not getattr(config, 'is_decoder', False)
        and all(hasattr(config, name) for name in (*NEEDED, *engine.needed))
    )
    return engine if runs else None


class Bert:
    """Reads texts and returns the logits of its head."""

    base = 'bert'
    needed: tuple[str, ...] = ('type_vocab_size',)
    # In a layer's attention: what is projected from one input, what comes after it.
    projected: tuple[str, ...] = ('self.query', 'self.key', 'self.value')
    out, norm_read = 'output.dense', 'output.LayerNorm'

    def __init__(self, stored: StoredModel):
        config = self.config = stored.config
        if config.num_hidden_layers < 1:
            raise ValueError(f'{config.num_hidden_layers} layers')
        width, words = config.hidden_size, f'{self.base}.embeddings'
        self.words = stored.embedding(
            f'{words}.word_embeddings', config.vocab_size, width
        )
        self.positions = stored.embedding(
            f'{words}.position_embeddings', config.max_position_embeddings, width
        )
        self.most = config.max_position_embeddings
        self.norm = norm(stored, f'{words}.LayerNorm')
        self.layers = [
            _Layer(stored, f'{self.base}.encoder.layer.{n}', self)
            for n in range(config.num_hidden_layers)
        ]
        self.head = _HEADS[config.architectures[0]](stored)
        self._read_further(stored)

    def _read_further(self, stored: StoredModel) -> None:
        self.types = stored.embedding(
            f'{self.base}.embeddings.token_type_embeddings',
            self.config.type_vocab_size,
            self.config.hidden_size,
        )

    def logits(self, batches: Iterable[Tensors]) -> list[torch.Tensor]:
        """
        As :meth:`~parlai_q2.models.encoders.PairEncoder.logits`, for ``input_ids``,
        ``attention_mask`` and, optionally, ``token_type_ids``.

        :raises ConfigError: if an input is too long for the model.
        """
        with inference('cpu'):
            return [out for group in groups(batches) for out in self._read(group)]

    def _read(self, batches: Sequence[Tensors]) -> list[torch.Tensor]:
        ids = [batch['input_ids'] for batch in batches]
        shapes = [(len(rows), rows.shape[1]) for rows in ids]
        longest = max(n for _, n in shapes)
        if longest > self.most:
            raise ConfigError(
                f'The model reads at most {self.most} tokens at once, but was given '
                f'{longest}. Set "max_tokens" in its section of the preset to '
                f'{self.most} or less.'
            )
        x = self.norm(self._embedded(batches))
        masks = [self._mask(batch) for batch in batches]
        for layer in self.layers:
            x = layer(x, shapes, masks)
        parts = x.split([b * n for b, n in shapes])
        return self.head([p.view(*s, -1) for p, s in zip(parts, shapes, strict=True)])

    def _embedded(self, batches: Sequence[Tensors]) -> torch.Tensor:
        """The sum of each token's embeddings, [N, M]."""
        ids = [batch['input_ids'] for batch in batches]
        kinds = [batch.get('token_type_ids') for batch in batches]
        x = self.words(torch.cat([rows.flatten() for rows in ids]))
        x += self.types(
            torch.cat(
                [
                    torch.zeros_like(rows).flatten() if of is None else of.flatten()
                    for rows, of in zip(ids, kinds, strict=True)
                ]
            )
        )
        places = [torch.arange(rows.shape[1]).repeat(len(rows)) for rows in ids]
        return x.add_(self.positions(torch.cat(places)))

    def _mask(self, batch: Tensors) -> Optional[torch.Tensor]:
        """What is added to attention's scores, [B, H or 1, L, L]."""
        return additive(batch['attention_mask'])


class MPNet(Bert):
    """MPNet: no segments, and a bias for distances that all layers share."""

    base = 'mpnet'
    needed = ('relative_attention_num_buckets', 'pad_token_id')
    projected = ('attn.q', 'attn.k', 'attn.v')
    out, norm_read = 'attn.o', 'LayerNorm'

    def _read_further(self, stored: StoredModel) -> None:
        config = self.config
        table = stored.embedding(
            'mpnet.encoder.relative_attention_bias',
            config.relative_attention_num_buckets,
            config.num_attention_heads,
        )
        self.bias = PositionBias(table, MPNET_BUCKETS, MPNET_FARTHEST)
        # The first positions are those of padding and what is before it.
        self.most = config.max_position_embeddings - config.pad_token_id - 1

    def _embedded(self, batches: Sequence[Tensors]) -> torch.Tensor:
        padding = self.config.pad_token_id
        ids = [batch['input_ids'] for batch in batches]
        told = [(rows != padding).long() for rows in ids]
        places = [(of.cumsum(1) * of + padding).flatten() for of in told]
        x = self.words(torch.cat([rows.flatten() for rows in ids]))
        return x.add_(self.positions(torch.cat(places)))

    def _mask(self, batch: Tensors) -> torch.Tensor:
        length = batch['input_ids'].shape[1]
        bias, mask = self.bias(length, length), super()._mask(batch)
        return bias if mask is None else bias + mask


class _Layer:
    def __init__(self, stored: StoredModel, name: str, of: Bert):
        config = stored.config
        width, wide = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        if width % self.heads:
            raise ValueError(f'{width} features for {self.heads} attention heads')
        attention = f'{name}.attention'
        self.project = stored.linear(
            *(f'{attention}.{part}' for part in of.projected), out=width, into=width
        )
        self.out = stored.linear(f'{attention}.{of.out}', out=width, into=width)
        self.norm_read = norm(stored, f'{attention}.{of.norm_read}')
        self.up = stored.linear(f'{name}.intermediate.dense', out=wide, into=width)
        self.down = stored.linear(f'{name}.output.dense', out=width, into=wide)
        self.norm_out = norm(stored, f'{name}.output.LayerNorm')

    def __call__(
        self,
        x: torch.Tensor,
        shapes: Sequence[tuple[int, int]],
        masks: Sequence[Optional[torch.Tensor]],
    ) -> torch.Tensor:
        qkv = self.project(x).split([b * n for b, n in shapes])
        read = [
            self._attend(part, shape, mask)
            for part, shape, mask in zip(qkv, shapes, masks, strict=True)
        ]
        x = self.norm_read(self.out(together(read)).add_(x))
        return self.norm_out(self.down(gelu(self.up(x))).add_(x))

    def _attend(
        self, qkv: torch.Tensor, shape: tuple[int, int], mask: Optional[torch.Tensor]
    ) -> torch.Tensor:
        split = qkv.view(*shape, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = split  # each [B, H, L, D]
        read = scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return read.transpose(1, 2).reshape(len(qkv), -1)  # [B * L, M]


class _ClassifierHead:
    pool_name, classify_name = 'bert.pooler.dense', 'classifier'

    def __init__(self, stored: StoredModel):
        width, classes = stored.config.hidden_size, stored.config.num_labels
        self.pool = stored.linear(self.pool_name, out=width, into=width)
        self.classify = stored.linear(self.classify_name, out=classes, into=width)

    def __call__(self, hidden: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        first = together([h[:, 0] for h in hidden])
        logits = self.classify(self.pool(first).tanh_())
        return list(logits.split([len(h) for h in hidden]))


class _MPNetHead(_ClassifierHead):
    pool_name, classify_name = 'classifier.dense', 'classifier.out_proj'


class _AnswerHead:
    def __init__(self, stored: StoredModel):
        self.outputs = stored.linear(
            'qa_outputs', out=2, into=stored.config.hidden_size
        )

    def __call__(self, hidden: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [self.outputs(h) for h in hidden]


_HEADS: dict[str, Any] = {
    'BertForSequenceClassification': _ClassifierHead,
    'BertForQuestionAnswering': _AnswerHead,
    'MPNetForSequenceClassification': _MPNetHead,
}
CLASSIFIER = 'AutoModelForSequenceClassification'
# The engine for an auto class and an architecture.
ENGINES: dict[tuple[str, str], type[Bert]] = {
    (CLASSIFIER, 'BertForSequenceClassification'): Bert,
    ('AutoModelForQuestionAnswering', 'BertForQuestionAnswering'): Bert,
    (CLASSIFIER, 'MPNetForSequenceClassification'): MPNet,
}


def norm(stored: StoredModel, name: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """A layer norm."""
    width, epsilon = stored.config.hidden_size, stored.config.layer_norm_eps
    weight = stored.vector(f'{name}.weight', width)
    bias = stored.vector(f'{name}.bias', width)
    return lambda x: layer_norm(x, (width,), weight, bias, epsilon)


def additive(mask: torch.Tensor) -> Optional[torch.Tensor]:
    """
    The additive attention mask for padding.

    :param mask: 1 for a token, 0 for padding, [B, L].
    :return: [B, 1, L, L], 0 or a very low number; None if there is no padding.
    """
    size, length = mask.shape
    if bool(mask.all()):
        return None
    low = torch.finfo(torch.float32).min
    added = torch.zeros(mask.shape, dtype=torch.float32)
    added.masked_fill_(mask == 0, low)
    return added[:, None, None].expand(size, 1, length, length)


def groups(batches: Iterable[Tensors]) -> Iterator[list[Tensors]]:
    """
    Group batches, in order, up to :data:`TOKENS_AT_ONCE` tokens, at least one each.
    """
    group: list[Tensors] = []
    tokens = 0
    for batch in batches:
        more = batch['input_ids'].numel()
        if group and tokens + more > TOKENS_AT_ONCE:
            yield group
            group, tokens = [], 0
        group.append(batch)
        tokens += more
    if group:
        yield group
