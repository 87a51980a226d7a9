"""
The folder that a Hugging Face model's agent leaves beside its model file.

A trained model ``X`` is ParlAI's ``X`` and ``X.opt`` with a folder ``X.hf`` that holds
the Hugging Face configuration and tokenizer. With these three, ``X`` can be moved, and
the model it was trained from is no longer needed.
"""

from pathlib import Path
from typing import Any, Mapping, Optional

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
