"""
Compatibility bridges for ParlAI 1.7.2, whose dependencies have changed since its
release: one function for each break, applied once to ParlAI's own classes. Nothing in
site-packages is edited. Plain ``parlai`` with setuptools >= 81 fails before it imports
parlai_q2: run ``parlai_q2`` instead, or ``pip install "setuptools<81"``.

TorchAgent, RAG and vacuum unpickle everything, as ParlAI intends (our own agents do
not, see :mod:`parlai_q2.parlai.model_files`).
"""

import argparse
import importlib.util
import inspect
import os
import sys
import warnings
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any

from parlai_q2.errors import Q2Error, TaskDataError
from parlai_q2.text.visible import one_line, visible


@cache
def apply() -> None:
    """Apply every bridge that this environment needs; a second call does nothing."""
    bridge_pkg_resources()
    bridge_option_files()
    bridge_downloads()
    bridge_plateau_scheduler()
    bridge_checkpoints()
    bridge_errors()


def bridge_pkg_resources() -> None:
    """
    Import ``parlai.core.opt`` even if setuptools (>= 81) has no ``pkg_resources``. The
    stand-in exists only during that import; the real module's warning is hidden.
    """
    missing = importlib.util.find_spec('pkg_resources') is None
    if missing:
        sys.modules['pkg_resources'] = pkg_resources_stand_in()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', message='pkg_resources is deprecated')
            import parlai.core.opt  # noqa: F401
    finally:
        if missing:
            del sys.modules['pkg_resources']


def pkg_resources_stand_in() -> ModuleType:
    """The two functions of ``pkg_resources`` that ParlAI calls."""
    module = ModuleType('pkg_resources')
    vars(module).update(
        resource_exists=lambda package, name: files(package).joinpath(name).is_file(),
        resource_filename=lambda package, name: str(files(package).joinpath(name)),
    )
    return module


def bridge_option_files() -> None:
    """Read option files as JSON only; ParlAI unpickles one that is not UTF-8."""
    from parlai.core.opt import Opt

    from parlai_q2.parlai.model_files import load_options

    Opt.load = classmethod(load_options)


def bridge_downloads() -> None:
    """Say in one line that a task's file could not be downloaded, and what to do."""
    from parlai.core import build_data

    original = build_data.download

    def download(
        url: str, path: str, fname: str, *rest: object, **options: object
    ) -> None:
        try:
            original(url, path, fname, *rest, **options)
        # The errors of requests, and ParlAI's own error for them.
        except (OSError, ValueError, RuntimeError, AttributeError) as e:
            raise TaskDataError(
                f'Cannot download {url}. Without a network, put {fname} into '
                f'~/parlai_data/{os.path.basename(path)} yourself, and give --datapath '
                f'~/parlai_data. ({one_line(str(e))[:200]})'
            ) from e

    build_data.download = download


def bridge_errors() -> None:
    """
    End ParlAI's own command with only the message of our errors, as our command does:
    users cannot act on a traceback. Other programs are not affected.
    """
    program = Path(sys.argv[0])
    # Called as a script, or by python -m parlai.
    if 'parlai' not in (program.stem, program.parent.name):
        return
    before = sys.excepthook

    def tell(kind: Any, error: BaseException, trace: Any) -> None:
        if isinstance(error, Q2Error):
            sys.stderr.write(f'{visible(str(error))}\n')
        else:
            before(kind, error, trace)

    sys.excepthook = tell


def bridge_plateau_scheduler() -> None:
    """Let ``reduceonplateau`` build its scheduler without ``verbose``, now dropped."""
    import parlai.nn.lr_scheduler as lr_scheduler
    from torch.optim.lr_scheduler import ReduceLROnPlateau

    if 'verbose' in inspect.signature(ReduceLROnPlateau).parameters:
        return

    def init(
        self: Any,
        optimizer: Any,
        patience: int,
        decay: float,
        warmup_updates: int,
        warmup_rate: float,
    ) -> None:
        lr_scheduler.ParlAILRScheduler.__init__(self, warmup_updates, warmup_rate)
        self.scheduler = ReduceLROnPlateau(
            optimizer, 'min', factor=decay, patience=patience
        )

    lr_scheduler.ReduceOnPlateauLRScheduler.__init__ = init


def bridge_checkpoints() -> None:
    """
    Let ``torch.load`` (torch >= 2.6) read ParlAI's checkpoints with ``weights_only``: a
    seq2seq model trained with ``--lr-scheduler invsqrt``, and fairseq's BART.
    """
    import torch

    if tuple(int(part) for part in torch.__version__.split('.')[:2]) >= (2, 6):
        torch.serialization.add_safe_globals(checkpoint_globals())


def checkpoint_globals() -> list[Any]:
    """
    The types in ParlAI's checkpoints besides tensors and Python's own: numpy's
    floating-point scalars (a learning rate), under the names of numpy 1 and 2, and
    fairseq's namespace of options. Constructing these runs no code that a file could
    choose.
    """
    import numpy as np

    scalar = np.float64(0).__reduce__()[0]
    return [
        (scalar, 'numpy._core.multiarray.scalar'),
        (scalar, 'numpy.core.multiarray.scalar'),
        np.dtype,
        type(np.dtype(np.float64)),
        type(np.dtype(np.float32)),
        argparse.Namespace,
    ]


def bridge_hugging_face_dictionary() -> None:
    """
    Let ParlAI's T5, once it is imported, read with the tokenizers of current
    transformers, which reject ``pad_to_max_length`` (it was False, the default).
    """
    module: Any = sys.modules.get('parlai.agents.hugging_face.dict')
    if module is None:
        return

    def txt2vec(self: Any, text: str, vec_type: object = list) -> Any:
        return self.hf_tokenizer.encode(
            self.format_text(text),
            add_special_tokens=self.add_special_tokens,
            max_length=self.max_length,
            truncation='longest_first',
        )

    module.HuggingFaceDictionaryAgent.txt2vec = txt2vec
