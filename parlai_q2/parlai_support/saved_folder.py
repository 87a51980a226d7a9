"""
What stands beside a model file: its options, and the folder that a Hugging Face model's
agent leaves there.

A trained model ``X`` is ParlAI's ``X`` and ``X.opt`` with a folder ``X.hf`` that holds
the Hugging Face configuration and tokenizer. With these three, ``X`` can be moved, and
the model it was trained from is no longer needed.
"""

from pathlib import Path
from typing import Any, Mapping, Optional

from parlai.core.build_data import modelzoo_path
from parlai.utils.io import PathManager

SUFFIX = '.hf'


def saved_opt(opt: Mapping[str, Any], option: str) -> Optional[str]:
    """
    The file of the options that a model was trained with, if there is one.

    :param opt: options.
    :param option: the one that names the model: ``model_file`` or ``init_model``.
    """
    if not opt.get(option):
        return None
    path = modelzoo_path(opt.get('datapath'), opt[option]) + '.opt'
    return path if PathManager.exists(path) else None


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
