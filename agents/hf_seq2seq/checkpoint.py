"""
Where an agent's weights, configuration and tokenizer come from and go to.

A trained model ``X`` is ParlAI's ``X`` and ``X.opt`` with a folder ``X.hf`` beside
them that holds the Hugging Face configuration and tokenizer. With these three, ``X``
can be moved, and the model it was trained from is no longer needed. A model file
without such a folder takes both from ``--hf-model``.
"""

from pathlib import Path
from typing import Any, Mapping, Optional

from parlai_q2.models.loading import load_seq2seq, load_tokenizer

SUFFIX = '.hf'


def saved_folder(opt: Mapping[str, Any]) -> Optional[Path]:
    """
    The folder beside the model file that ParlAI is going to load, if there is one.

    :param opt: options; ``model_file`` goes before ``init_model``, as ParlAI has it.
    """
    for name in ('model_file', 'init_model'):
        path = opt.get(name)
        if path and Path(path).exists():
            folder = Path(str(path) + SUFFIX)
            return folder if folder.is_dir() else None
    return None


def load_network(opt: Mapping[str, Any]) -> Any:
    """
    The Hugging Face model, ready to be trained.

    :param opt: options with ``hf_model``.
    :return: an encoder-decoder in fp32; its weights are random where ParlAI will read
        them from a model file.
    :raises ModelError: when it can not be loaded.
    """
    folder = saved_folder(opt)
    if folder is None:
        model, _ = load_seq2seq(opt['hf_model'])
    else:
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, GenerationConfig

        config = AutoConfig.from_pretrained(folder)
        model = AutoModelForSeq2SeqLM.from_config(config)
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model.float().requires_grad_(True)


def load_hf_tokenizer(opt: Mapping[str, Any]) -> Any:
    """
    The Hugging Face tokenizer that goes with :func:`load_network`.
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
