"""
Finds the files beside a model file, and reads ParlAI's files as data: option files as
JSON, our agents' checkpoints as weights. ParlAI 1.7.2 unpickles every checkpoint and
any option file that is not UTF-8. A pickle can run any code (SECURITY.md).

A trained model ``X`` consists of ParlAI's files ``X`` and ``X.opt``; agents around
Hugging Face models add a folder ``X.hf`` with the configuration and tokenizer.
"""

import json
import pickle
from logging import LogRecord
from pathlib import Path
from typing import Any

import torch
from parlai.core.build_data import modelzoo_path
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.utils import logging
from parlai.utils.io import PathManager

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.json_values import JsonObject
from parlai_q2.options import Options
from parlai_q2.turns import without_surrogates

SUFFIX = '.hf'
# ParlAI's warning about every TorchAgent without a model file.
NO_MODEL_FILE = 'model_file unset but model has a `load` function.'


def expect_no_model_file(opt: Options) -> None:
    """Keep ParlAI from warning about a missing ``--model-file`` that is not needed."""
    if not opt.get('model_file'):
        logging.logger.addFilter(_is_about_something_else)


def _is_about_something_else(record: LogRecord) -> bool:
    return record.msg != NO_MODEL_FILE


def saved_opt(opt: Options, option: str) -> str | None:
    """The option file of the model that an option names, if there is one."""
    if not opt.get(option):
        return None
    path = modelzoo_path(opt.get('datapath'), opt[option]) + '.opt'
    return path if PathManager.exists(path) else None


def saved_folder(opt: Options) -> Path | None:
    """The folder beside the model file that ParlAI will load, if it exists."""
    for name in ('model_file', 'init_model'):
        path = opt.get(name)
        if path and Path(path).exists():
            folder = Path(str(path) + SUFFIX)
            return folder if folder.is_dir() else None
    return None


def read_options(path: str) -> JsonObject:
    """The options in a file (``.opt``); a ConfigError if it is no JSON object."""
    try:
        with PathManager.open(path, 'r', encoding='utf-8') as stream:
            options = json.load(stream)
    except UnicodeDecodeError:
        raise ConfigError(
            f'{path} is not a JSON option file. A pickled one, as ParlAI wrote before '
            '2019, can run any code and is not read. If you trust it, save it as JSON '
            'with plain ParlAI.'
        ) from None
    except (ValueError, RecursionError) as e:
        why = 'it is nested too deeply' if isinstance(e, RecursionError) else e
        raise ConfigError(f'{path} is not a JSON option file: {why}.') from None
    if not isinstance(options, dict):
        kind = type(options).__name__
        raise ConfigError(f'{path} must hold a JSON object of options, not a {kind}.')
    return options


def load_options(cls: type[Opt], optfile: str) -> Opt:
    """Stands in for ``Opt.load``, which unpickles."""
    from parlai.core.opt import __AUTOCLEAN_KEYS__

    options = read_options(optfile)
    return cls({k: v for k, v in options.items() if k not in __AUTOCLEAN_KEYS__})


class WeightsOnly:
    """
    A mixin for a ``TorchAgent`` around a model of transformers, which reads its
    checkpoint without unpickling.
    """

    model: Any  # ParlAI's own

    @property
    def hf_model(self) -> Any:
        """The transformers model inside ParlAI's model."""
        # Data-parallel training wraps ParlAI's model in another one.
        return getattr(self.model, 'module', self.model).hf

    def load(self, path: str) -> dict[str, Any]:
        """
        Load weights, and the optimizer's state if there is one; return all of the
        checkpoint.

        :raises ModelError: if it holds more than tensors and plain values.
        """
        agent: Any = self
        try:
            with PathManager.open(path, 'rb') as stream:
                states: dict[str, Any] = torch.load(
                    stream, map_location='cpu', weights_only=True
                )
        except (pickle.UnpicklingError, RuntimeError, EOFError) as e:
            reason = str(e).partition('\n')[0]
            raise ModelError(f'{path} is not a checkpoint of weights: {reason}') from e
        if 'model' in states:
            agent.load_state_dict(states['model'])
        if 'optimizer' in states and hasattr(agent, 'optimizer'):
            agent.optimizer.load_state_dict(states['optimizer'])
        return states


def readable(message: Message) -> Message:
    """Replace lone surrogates in a message, which tokenizers reject."""
    other = {
        name: mended
        for name, value in message.items()
        # Values other than texts stay as they are; a tensor must not be compared.
        if (mended := _mended(value)) is not value and mended != value
    }
    return Message({**message, **other}) if other else message


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return without_surrogates(value)
    # Labels and candidates.
    if type(value) in (list, tuple) and all(isinstance(v, str) for v in value):
        return type(value)(map(without_surrogates, value))
    return value
