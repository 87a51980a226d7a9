"""
Loads and saves an agent's weights, configuration and tokenizer.

A trained model keeps its configuration and tokenizer in the folder beside it (see
:mod:`parlai_q2.parlai.saved_folder`). For a model file without such a folder,
both come from ``--hf-model``.
"""

from typing import Any, Mapping

from parlai_q2.models.loading import NO_CODE, load_seq2seq, load_tokenizer
from parlai_q2.parlai.saved_folder import SUFFIX, saved_folder


def load_network(opt: Mapping[str, Any]) -> Any:
    """
    Load the Hugging Face model, ready for training.

    :param opt: options with ``hf_model``.
    :return: an encoder-decoder in fp32; its weights are random where ParlAI will read
        them from a model file.
    :raises ModelError: when it cannot be loaded.
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
    """
    Load the Hugging Face tokenizer that goes with :func:`load_network`.
    """
    folder = saved_folder(opt)
    return load_tokenizer(opt['hf_model'] if folder is None else str(folder))


def save_folder(model_file: str, model: Any, tokenizer: Any) -> None:
    """
    Write the configuration and the tokenizer beside a model file.
    """
    folder = model_file + SUFFIX
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
