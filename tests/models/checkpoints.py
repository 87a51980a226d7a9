"""
Tiny checkpoints of the paper preset's three architectures, written by save_pretrained,
and tiny tokenizers for them: the real loading code on files a test can make.
"""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AlbertConfig,
    AlbertForQuestionAnswering,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
)

from parlai_q2.models.engine.int8_weights import INT8_WEIGHTS, save_int8
from parlai_q2.zoo.train.weights import distinct

WORDS = (
    'answer : context question what where when who is was it in the a formed 1983 la '
    'los angeles band rock red hot chili peppers they are . ? , 1990 punk funk '
    'american wow'
).split()
SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '</s>']


def tokenizer(folder: Path, pair_tokens: bool) -> int:
    """Write a word-level tokenizer; returns the size of its vocabulary."""
    vocabulary = {w: i for i, w in enumerate([*SPECIAL, *dict.fromkeys(WORDS)])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token='[UNK]'))
    raw.normalizer = normalizers.Lowercase()
    raw.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if pair_tokens:
        raw.post_processor = processors.TemplateProcessing(
            single='[CLS] $A [SEP]',
            pair='[CLS] $A [SEP] $B:1 [SEP]:1',
            special_tokens=[('[CLS]', 2), ('[SEP]', 3)],
        )
    PreTrainedTokenizerFast(
        tokenizer_object=raw,
        pad_token='[PAD]',
        unk_token='[UNK]',
        cls_token='[CLS]',
        sep_token='[SEP]',
        eos_token='</s>',
        model_max_length=512,
    ).save_pretrained(folder)
    return len(vocabulary)


def in_int8(model: Any, folder: Path) -> None:
    """Write a model's configuration and its weights in int8, tied ones once."""
    model.save_pretrained(folder)
    (folder / 'model.safetensors').unlink()
    save_int8(distinct(model.state_dict()), folder / INT8_WEIGHTS)


def tiny_t5(folder: Path) -> str:
    """A random T5 for question generation."""
    torch.manual_seed(1)
    size = tokenizer(folder, pair_tokens=False)
    config = T5Config(
        vocab_size=size,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        pad_token_id=0,
        eos_token_id=4,
        decoder_start_token_id=0,
    )
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return str(folder)


def tiny_albert(folder: Path) -> str:
    """A random ALBERT for question answering."""
    torch.manual_seed(2)
    config = AlbertConfig(
        vocab_size=tokenizer(folder, pair_tokens=True),
        embedding_size=8,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    AlbertForQuestionAnswering(config).save_pretrained(folder)
    return str(folder)


def tiny_roberta(folder: Path) -> str:
    """A random RoBERTa for NLI."""
    torch.manual_seed(3)
    config = RobertaConfig(
        vocab_size=tokenizer(folder, pair_tokens=True),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=80,
        type_vocab_size=2,
        num_labels=3,
        pad_token_id=0,
    )
    RobertaForSequenceClassification(config).save_pretrained(folder)
    return str(folder)
