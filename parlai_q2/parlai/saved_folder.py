"""
Finds what is beside a model file: its options, and the folder that a Hugging Face
model's agent saves.

A trained model ``X`` consists of ParlAI's files ``X`` and ``X.opt``, and a folder
``X.hf`` with the Hugging Face configuration and tokenizer. These three can be moved
together, and the model that ``X`` was trained from is no longer needed.
"""

from pathlib import Path
from typing import Any, Mapping, Optional

from parlai.core.build_data import modelzoo_path
from parlai.utils.io import PathManager

SUFFIX = '.hf'


def saved_opt(opt: Mapping[str, Any], option: str) -> Optional[str]:
    """
    The file with the options that a model was trained with, if it exists.

    :param opt: ParlAI options.
    :param option: the option that names the model: ``model_file`` or ``init_model``.
    """
    if not opt.get(option):
        return None
    path = modelzoo_path(opt.get('datapath'), opt[option]) + '.opt'
    return path if PathManager.exists(path) else None


def saved_folder(opt: Mapping[str, Any]) -> Optional[Path]:
    """
    The folder beside the model file that ParlAI will load, if it exists.

    :param opt: ParlAI options; ``model_file`` takes precedence over ``init_model``, as
        in ParlAI.
    """
    for name in ('model_file', 'init_model'):
        path = opt.get(name)
        if path and Path(path).exists():
            folder = Path(str(path) + SUFFIX)
            return folder if folder.is_dir() else None
    return None
