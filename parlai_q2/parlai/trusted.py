"""
Reads ParlAI's files as data: option files as JSON, our agents' checkpoints as weights.

ParlAI 1.7.2 unpickles an option file that is not UTF-8, and every checkpoint; a pickle
can run any code. See SECURITY.md.
"""

import json
import pickle
from typing import Any

import torch
from parlai.core.opt import Opt
from parlai.utils.io import PathManager

from parlai_q2.errors import ConfigError, ModelError


def read_options(path: str) -> dict[str, Any]:
    """
    The options in an option file (``.opt``).

    :raises ConfigError: when the file is not a JSON object.
    """
    try:
        with PathManager.open(path, 'r', encoding='utf-8') as stream:
            found = json.load(stream)
    except UnicodeDecodeError:
        raise ConfigError(
            f'{path} is not a JSON option file. A pickled one, as ParlAI wrote before '
            '2019, can run any code and is not read. If you trust it, save it as JSON '
            'with plain ParlAI.'
        ) from None
    except (ValueError, RecursionError) as e:
        why = 'it is nested too deeply' if isinstance(e, RecursionError) else e
        raise ConfigError(f'{path} is not a JSON option file: {why}.') from None
    if not isinstance(found, dict):
        kind = type(found).__name__
        raise ConfigError(f'{path} must hold a JSON object of options, not a {kind}.')
    return found


def load_options(cls: type[Opt], optfile: str) -> Opt:
    """Stands in for ``Opt.load``, which unpickles."""
    from parlai.core.opt import __AUTOCLEAN_KEYS__

    found = read_options(optfile)
    return cls({k: v for k, v in found.items() if k not in __AUTOCLEAN_KEYS__})


class WeightsOnly:
    """Put before a ``TorchAgent``, lets it read its checkpoint without unpickling."""

    def load(self, path: str) -> dict[str, Any]:
        """
        Load the weights, and the optimizer's state where there is an optimizer.

        :return: all that the checkpoint holds.
        :raises ModelError: when it holds anything but tensors and plain values.
        """
        agent: Any = self
        try:
            with PathManager.open(path, 'rb') as stream:
                states = torch.load(stream, map_location='cpu', weights_only=True)
        except (pickle.UnpicklingError, RuntimeError, EOFError) as e:
            said = str(e).partition('\n')[0]
            raise ModelError(f'{path} is not a checkpoint of weights: {said}') from e
        if 'model' in states:
            agent.load_state_dict(states['model'])
        if 'optimizer' in states and hasattr(agent, 'optimizer'):
            agent.optimizer.load_state_dict(states['optimizer'])
        return states
