"""
Tiny random models and tokenizers of a few words, in memory or as ``save_pretrained``
writes them: the real loading code on files that a test can make.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.numpy import save
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertForQuestionAnswering,
    BertConfig,
    BertModel,
    BertTokenizer,
    MPNetConfig,
    MPNetForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5ForConditionalGeneration,
)

from parlai_q2 import Scorer, load_scorer
from parlai_q2.models.converted.convert import quantised
from parlai_q2.models.model_files import INT8_WEIGHTS
from parlai_q2.presets import ModelConfig, Preset, Section

SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
BERT_NAMES = {
    name: f'[{name[:3].upper()}]'
    for name in ('pad_token', 'unk_token', 'cls_token', 'sep_token')
}
# Marks pairs as BERT's tokenizer does.
BERT_PAIRS = processors.TemplateProcessing(
    single='[CLS] $A [SEP]',
    pair='[CLS] $A [SEP] $B:1 [SEP]:1',
    special_tokens=[('[CLS]', 2), ('[SEP]', 3)],
)
BAND_WORDS = (
    'answer : context question what where when who is was it in the a formed 1983 la '
    'los angeles band rock red hot chili peppers they are . ? , 1990 punk funk '
    'american wow'
).split()
BEE_WORDS = (
    'the a bees bee have five six eyes two large small and three of in 1969 1854 was '
    'founded it is french american chain company they wow . , ? !'
).split()
LAYERS = 3


def word_tokenizer(
    words: Sequence[str],
    special: Sequence[str] = SPECIAL,
    lower: bool = True,
    around: Any = BERT_PAIRS,
    **names: Any,
) -> PreTrainedTokenizerFast:
    """A tokenizer of whole words; ``names`` are of special tokens (default: BERT's)."""
    vocabulary = {w: i for i, w in enumerate([*special, *dict.fromkeys(words)])}
    names = {**({} if 'unk_token' in names else BERT_NAMES), **names}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=names['unk_token']))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if lower:
        raw.normalizer = normalizers.Lowercase()
        raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if around:
        raw.post_processor = around
    return PreTrainedTokenizerFast(tokenizer_object=raw, **names)


def tokenizer(folder: Path, pair_tokens: bool) -> int:
    """Write a tokenizer of :data:`BAND_WORDS`; returns the size of its vocabulary."""
    trained = word_tokenizer(
        BAND_WORDS,
        [*SPECIAL, '</s>'],
        around=BERT_PAIRS if pair_tokens else None,
        eos_token='</s>',
        model_max_length=512,
    )
    trained.save_pretrained(folder)
    return len(trained)


def t5(
    size: int, seed: int = 1, kind: Any = T5ForConditionalGeneration, **changes: Any
) -> Any:
    """A random T5 for a vocabulary of a size."""
    torch.manual_seed(seed)
    config = {
        'vocab_size': size,
        'd_model': 16,
        'd_kv': 8,
        'd_ff': 32,
        'num_layers': 2,
        'num_heads': 2,
        'pad_token_id': 0,
        'eos_token_id': 1,
        'decoder_start_token_id': 0,
    }
    return kind(kind.config_class(**{**config, **changes}))


def encoder_config(kind: type, size: int, **changes: Any) -> Any:
    """The configuration of a small encoder."""
    config = {
        'vocab_size': size,
        'hidden_size': 16,
        'num_hidden_layers': 2,
        'num_attention_heads': 2,
        'intermediate_size': 32,
        'max_position_embeddings': 64,
    }
    return kind(**{**config, **changes})


def mpnet(size: int, spread: float = 0.2) -> MPNetForSequenceClassification:
    """A random MPNet of four classes that reads 64 tokens; distances matter to it."""
    torch.manual_seed(4)
    config = encoder_config(
        MPNetConfig,
        size,
        hidden_size=96,
        num_attention_heads=3,
        intermediate_size=128,
        max_position_embeddings=66,
        num_labels=4,
        initializer_range=spread,
    )
    model = MPNetForSequenceClassification(config).eval()
    model.mpnet.encoder.relative_attention_bias.weight.data.normal_(std=2.0)
    return model


def in_int8(model: Any, folder: Path) -> None:
    """Write a model's configuration and its weights in int8, tied ones once."""
    model.save_pretrained(folder)
    (folder / 'model.safetensors').unlink()
    write_int8(model.state_dict(), folder / INT8_WEIGHTS)


def write_int8(state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Write weights as row-wise int8 in safetensors."""
    arrays = {name: tensor.float().numpy() for name, tensor in state.items()}
    path.write_bytes(save(quantised(arrays)))


def tiny_t5(folder: Path) -> str:
    """A random T5 for question generation."""
    size = tokenizer(folder, pair_tokens=False)
    t5(size, eos_token_id=4).save_pretrained(folder)
    return str(folder)


def tiny_albert(folder: Path) -> str:
    """A random ALBERT for question answering."""
    size = tokenizer(folder, pair_tokens=True)
    torch.manual_seed(2)
    config = encoder_config(AlbertConfig, size, embedding_size=8)
    AlbertForQuestionAnswering(config).save_pretrained(folder)
    return str(folder)


def tiny_roberta(folder: Path) -> str:
    """A random RoBERTa for NLI."""
    size = tokenizer(folder, pair_tokens=True)
    torch.manual_seed(3)
    sizes = {'max_position_embeddings': 80, 'type_vocab_size': 2, 'pad_token_id': 0}
    config = encoder_config(RobertaConfig, size, num_labels=3, **sizes)
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def tiny_bert(folder: Path, **changes: Any) -> str:
    """A random BERT without a head, with a tokenizer that bert-score can read."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*SPECIAL, '[MASK]', *dict.fromkeys(BEE_WORDS)]
    (folder / 'vocab.txt').write_text('\n'.join(vocabulary))
    BertTokenizer(str(folder / 'vocab.txt')).save_pretrained(folder)
    torch.manual_seed(5)
    less = {'num_hidden_layers': LAYERS, 'max_position_embeddings': 24, **changes}
    BertModel(encoder_config(BertConfig, len(vocabulary), **less)).save_pretrained(
        folder
    )
    return str(folder)


def bert_scorer(folder: str, num_layers: int) -> Scorer:
    """The scorer ``bertscore`` with a model of one's own."""
    config = ModelConfig(folder, settings={'num_layers': num_layers})
    return load_scorer('bertscore', preset=Preset('mine', {Section.BERTSCORE: config}))


def tiny_pair_model(folder: Path, kind: Any, **changes: Any) -> str:
    """A random BERT with a head, such as ``BertForQuestionAnswering``."""
    folder.mkdir(parents=True, exist_ok=True)
    trained = word_tokenizer(BEE_WORDS)
    trained.save_pretrained(folder)
    torch.manual_seed(6)
    wide = {'hidden_size': 96, 'intermediate_size': 128, 'initializer_range': 0.3}
    config = encoder_config(BertConfig, len(trained), **{**wide, **changes})
    kind(config).eval().save_pretrained(folder)
    return str(folder)
