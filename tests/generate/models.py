"""Small models of four families, converted by CTranslate2's own converter."""

import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch
from ctranslate2.converters import TransformersConverter
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from tests.agents.hf_models import LESSONS, WORDS, checkpoint, teach
from tests.tiny import word_tokenizer

COPIED = ['tokenizer.json', 'tokenizer_config.json']
CHAT_WORDS = [*WORDS, 'know', 'what', 'they', 'said', 'hello,', 'system', 'user']
# ChatML, as Qwen's models have it. The tiny tokenizer splits at white space.
CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|> {{ m['role'] }} {{ m['content'] }} <|im_end|> "
    '{% endfor %}{% if add_generation_prompt %}<|im_start|> assistant {% endif %}'
)


@cache
def converted(family: str) -> Path:
    """
    The folder of a converted model.

    :param family: ``t5``, ``bart``, ``gpt2`` (learned positions, no chat template) or
        ``llama`` (rotary positions and a chat template).
    """
    folder = Path(tempfile.mkdtemp())
    if family in ('t5', 'bart'):
        shutil.copytree(checkpoint(family), folder / 'hf')
        if family == 'bart':
            # Settings of all published BARTs, which transformers no longer writes.
            add_to(folder / 'hf' / 'config.json', normalize_before=False)
            add_to(folder / 'hf' / 'config.json', normalize_embedding=True)
    else:
        _causal(family, folder / 'hf')
    converter = TransformersConverter(
        str(folder / 'hf'),
        copy_files=[n for n in COPIED if (folder / 'hf' / n).exists()],
    )
    converter.convert(str(folder / 'converted'), quantization='int8')
    return folder / 'converted'


def _causal(family: str, folder: Path) -> None:
    """A decoder that was taught to answer the lessons, as its prompt asks them."""
    names = ['<pad>', '</s>', '<unk>', '<|im_start|>', '<|im_end|>', 'assistant']
    words = word_tokenizer(
        CHAT_WORDS, names, False, None,
        pad_token='<pad>', eos_token='<|im_end|>', unk_token='<unk>',
        bos_token='</s>', additional_special_tokens=['<|im_start|>'],
    )  # fmt: skip
    torch.manual_seed(3)
    model: Any
    ends = {'bos_token_id': 1, 'eos_token_id': 4, 'pad_token_id': 0}
    if family == 'gpt2':
        config = GPT2Config(
            vocab_size=len(words), n_positions=96, n_embd=32, n_layer=2, n_head=4,
            resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, **ends,
        )  # fmt: skip
        model = GPT2LMHeadModel(config)
    else:
        words.chat_template = CHAT_TEMPLATE
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=len(words),
                hidden_size=32,
                intermediate_size=64,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=128,
                **ends,
            )
        )
    texts = [f'{text} assistant {reply} <|im_end|>' for text, reply in LESSONS]
    teach(model, words, texts, texts, 60, 5e-3)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    if words.chat_template:
        # Newer transformers write it into a file of its own; many models have it here.
        add_to(folder / 'tokenizer_config.json', chat_template=words.chat_template)


def add_to(path: Path, **fields: Any) -> None:
    """Change fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))
