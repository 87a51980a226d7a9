"""
A tiny BERT with a tokenizer of its own, and a task that it can learn: whether a
response says of a thing what its knowledge says. Each text alone tells nothing.
"""

import shutil
from itertools import product
from pathlib import Path
from typing import Any

import torch
import yaml
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    PreTrainedTokenizerFast,
)

from tests.files import write_lines
from tests.tiny import encoder_config, word_tokenizer

AGENT = 'parlai_q2.agents.hf_classifier.hf_classifier:HfClassifierAgent'
TASK = 'parlai_q2.tasks.pairs.agents'
THINGS = 'moon bee rook river lamp door tea wool stone rain'.split()
ADJECTIVES = 'old red cold round'.split()
WORDS = [*'the is it not never . , -'.split(), *THINGS, *ADJECTIVES]


def tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """Write a word-level tokenizer that marks pairs as BERT's does."""
    tokenizer = word_tokenizer(
        WORDS,
        model_max_length=64,
        model_input_names=['input_ids', 'token_type_ids', 'attention_mask'],
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def tiny_bert(folder: Path, names: list[str] | None = None) -> str:
    """
    Write a random BERT: two layers, 32 dimensions.

    :param names: of a classifier's outputs; None for a model without a classifier.
    """
    size = len(tokenizer(folder))
    torch.manual_seed(5)
    dropout = {'hidden_dropout_prob': 0.0, 'attention_probs_dropout_prob': 0.0}
    config = encoder_config(
        BertConfig,
        size,
        hidden_size=32,
        num_attention_heads=4,
        intermediate_size=64,
        **dropout,
    )
    if names is None:
        BertModel(config).save_pretrained(folder)
        return str(folder)
    config.id2label = dict(enumerate(names))
    config.label2id = {name: i for i, name in enumerate(names)}
    BertForSequenceClassification(config).save_pretrained(folder)
    return str(folder)


def write_preset(folder: Path, model: str, **settings: Any) -> str:
    """Write a preset whose detector is a model; its path."""
    section = {'model': model, 'max_tokens': 60, **settings}
    path = folder / 'own.yaml'
    path.write_text(yaml.safe_dump({'name': 'own', 'detector': section}))
    return str(path)


def write_pairs(folder: Path) -> str:
    """
    Write the task: three in four things for training, the others held out.

    :return: a path for ``--pairs-file``.
    """
    for fold, things in (('train', THINGS[:7]), ('valid', THINGS[7:])):
        statements = product(things, ADJECTIVES, ('', 'not '), ('', 'not '))
        records = (
            {
                'evidence': f'the {thing} is {denial}{adjective} .',
                'claim': f'it is {doubt}{adjective} .',
                'label': 'SUPPORTS' if denial == doubt else 'REFUTES',
            }
            for thing, adjective, denial, doubt in statements
        )
        write_lines(folder / f'{fold}.jsonl', *records)
    shutil.copy(folder / 'valid.jsonl', folder / 'test.jsonl')
    return str(folder / '{fold}.jsonl')


def on_pairs(pairs_file: str) -> dict[str, Any]:
    """Options of a ParlAI command on the task."""
    return {
        'task': TASK,
        'pairs_file': pairs_file,
        'pairs_labels': 'SUPPORTS=consistent,REFUTES=inconsistent,NOT ENOUGH INFO=',
        'no_cuda': True,
    }
