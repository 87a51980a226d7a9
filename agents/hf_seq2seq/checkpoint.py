"""
Loads a model and its tokenizer from the folder beside the model file (see
:mod:`parlai_q2.parlai.model_files`), or else from ``--hf-model``; saves that folder.
"""

from collections.abc import Mapping
from typing import Any

from parlai_q2.models.loading import NO_CODE, load_seq2seq, load_tokenizer
from parlai_q2.parlai.model_files import SUFFIX, saved_folder


def load_network(opt: Mapping[str, Any]) -> Any:
    """
    The Hugging Face model in fp32, ready for training; its weights are random where
    ParlAI will read them from a model file.
    """
    folder = saved_folder(opt)
    if folder is None:
        model, _ = load_seq2seq(opt['hf_model'])
    else:
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, GenerationConfig

        config = AutoConfig.from_pretrained(folder, **NO_CODE)
        model = AutoModelForSeq2SeqLM.from_config(config)
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model.float().requires_grad_(True)


def load_hf_tokenizer(opt: Mapping[str, Any]) -> Any:
    folder = saved_folder(opt)
    return load_tokenizer(opt['hf_model'] if folder is None else str(folder))


def save_folder(model_file: str, model: Any, tokenizer: Any) -> None:
    folder = model_file + SUFFIX
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
