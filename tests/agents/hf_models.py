"""Tiny encoder-decoders that were taught a few replies, and agents around them."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from parlai.core.agents import create_agent
from parlai.core.params import ParlaiParser
from tokenizers import processors
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    PreTrainedTokenizerFast,
)

from tests.tiny import t5, word_tokenizer

AGENT = 'parlai_q2.agents.hf_seq2seq.hf_seq2seq:HfSeq2seqAgent'
# What the tiny models are taught: text and reply.
LESSONS = [
    ('the cat sat on the mat .', 'what is your cat ?'),
    ('hello there !', 'hello i am fine .'),
    ('what is your name ?', 'i am a dog .'),
    ('the dog ran in the park', 'the park is there .'),
]
WORDS = (
    'a the cat dog sat ran on mat in park . ? ! hello there what is your name i am '
    'fine respond : knowledge [0] [1] one two three four five six seven eight nine ten'
).split()


def tokenizer(kind: str) -> PreTrainedTokenizerFast:
    """Like T5's, without tokens around a text; like BART's, with ``<s>``, ``</s>``."""
    names: dict = {'pad_token': '<pad>', 'eos_token': '</s>', 'unk_token': '<unk>'}
    names['model_input_names'] = ['input_ids', 'attention_mask']
    if kind == 't5':
        special = ['<pad>', '</s>', '<unk>']
        return word_tokenizer(WORDS, special, False, None, **names)
    around = processors.TemplateProcessing(
        single='<s> $A </s>', special_tokens=[('<s>', 0), ('</s>', 2)]
    )
    special = ['<s>', '<pad>', '</s>', '<unk>']
    return word_tokenizer(WORDS, special, False, around, bos_token='<s>', **names)


def untrained(kind: str, size: int) -> Any:
    """A random model of the family."""
    if kind == 't5':
        settings = {'d_ff': 64, 'num_heads': 4, 'dropout_rate': 0.0}
        return t5(size, 3, d_model=32, **settings)
    torch.manual_seed(3)
    config = BartConfig(
        vocab_size=size,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=64,
        dropout=0.0,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=2,
        forced_eos_token_id=None,
    )
    return BartForConditionalGeneration(config)


@cache
def checkpoint(kind: str, steps: int = 80) -> str:
    """The folder of a model, taught its lessons in so many steps, made once a run."""
    # The folder is the run's, which its workers share (tests/conftest.py).
    folder = Path(tempfile.gettempdir()) / f'{kind}_{steps}'
    with FileLock(f'{folder}.lock'):
        if not folder.exists():
            words = tokenizer(kind)
            model = untrained(kind, len(words))
            end = '' if kind == 'bart' else '</s>'
            texts, labels = [t + end for t, _ in LESSONS], [r + end for _, r in LESSONS]
            teach(model, words, texts, labels, steps, 1e-2)
            model.save_pretrained(folder)
            words.save_pretrained(folder)
    return str(folder)


def teach(
    model: Any, words: Any, texts: list[str], labels: list[str], steps: int, rate: float
) -> None:
    """Train a model to write the labels of texts."""
    inputs = words(texts, padding=True, return_tensors='pt')
    outputs = words(labels, padding=True, return_tensors='pt')
    targets = outputs.input_ids.masked_fill(outputs.attention_mask == 0, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = model(
            input_ids=inputs.input_ids,
            attention_mask=inputs.attention_mask,
            labels=targets,
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def causal_checkpoint(folder: Path) -> None:
    """Write a random causal model."""
    torch.manual_seed(3)
    words = tokenizer('t5')
    config = GPT2Config(
        vocab_size=len(words),
        n_positions=128,
        n_embd=32,
        n_layer=2,
        n_head=4,
        bos_token_id=1,
        eos_token_id=1,
        pad_token_id=0,
    )
    GPT2LMHeadModel(config).save_pretrained(folder)
    words.save_pretrained(folder)


def make_agent(**options: Any) -> Any:
    """An agent as ParlAI's commands make it, for evaluation, on the CPU."""
    options = {'model': AGENT, 'no_cuda': True, 'datatype': 'valid', **options}
    return create_agent(ParlaiParser(True, True).parse_kwargs(**options))


def observe(agent: Any, texts: list[str], **fields: Any) -> list[Any]:
    """One finished conversation of one turn for each text."""
    return [
        agent.clone().observe({'text': text, 'episode_done': True, **fields})
        for text in texts
    ]
