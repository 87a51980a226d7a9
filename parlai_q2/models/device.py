"""
Devices by name, and the libraries that CTranslate2 needs on a GPU (NVIDIA's, which the
extra ``cuda`` installs).
"""

import ctypes
import importlib.util
import logging
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from parlai_q2.errors import ConfigError, Q2Error
from parlai_q2.models.model_files import shipped_folder

if TYPE_CHECKING:
    import torch

# A GPU if one works, else the CPU.
AUTO = 'auto'
CPU = 'cpu'
# The path that exists on Linux if there is a driver for NVIDIA's GPUs.
DRIVER = Path('/proc/driver/nvidia')


def gpus() -> list[str]:
    """The GPUs that CTranslate2 or torch see, by name."""
    import ctranslate2

    count = ctranslate2.get_cuda_device_count()
    # torch may support GPUs that CTranslate2 does not, but is slow to ask.
    if (
        not count
        and (DRIVER.exists() or shutil.which('nvidia-smi'))
        and importlib.util.find_spec('torch') is not None
    ):
        import torch

        count = torch.cuda.device_count()
    return [f'cuda:{n}' for n in range(count)]


def is_cpu(device: str) -> bool:
    """Whether a device is the CPU, where calls are cheap and padding is expensive."""
    return device.partition(':')[0] == CPU


def check_name(name: str, option: str = 'The device') -> None:
    """Raise ConfigError unless the value of an option names a device."""
    if re.fullmatch(r'auto|cpu|cuda(:\d+)?', name):
        return
    try:
        import torch

        torch.device(name)
    except (ImportError, RuntimeError, TypeError) as e:
        raise ConfigError(
            f'{option} is {name!r}, which is no device. Use cpu or cuda:0.'
        ) from e


def check_device(name: str) -> None:
    """As :func:`check_name`; the device must also exist, so that a model can use it."""
    check_name(name)
    kind, _, number = name.partition(':')
    available = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in available:
        raise ConfigError(
            f'The device is {name!r}, which is not available. The GPUs that are seen: '
            f'{", ".join(available) or "none"}.'
        )


@contextmanager
def inference(device: 'str | torch.device') -> Iterator[None]:
    """Compute without gradients or autocast, which would round scores unseen."""
    import torch

    kind = torch.device(device).type
    with torch.inference_mode(), torch.autocast(kind, enabled=False):
        yield


@contextmanager
def in_float32() -> Iterator[None]:
    """Create tensors in fp32; the host program's default dtype could round weights."""
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


# The libraries that CTranslate2 opens by name at its first product, in load order.
LIBRARIES = ('libcublasLt.so.12', 'libcublas.so.12')
# The smallest shipped model, which is tested before a GPU is used.
TRIED = 'q2_mini/retrieval'
_logger = logging.getLogger(__name__)


@cache
def load_cublas() -> None:
    """
    Load NVIDIA's libraries from pip's packages, or else from the system. CTranslate2
    finds libraries that are already loaded.

    :raises ConfigError: if one of them is missing or cannot be loaded.
    """
    if sys.platform != 'linux':
        return
    folders = [f'{folder}/' for folder in _find_wheel()]
    for name in LIBRARIES:
        for folder in [*folders, '']:
            try:
                ctypes.CDLL(f'{folder}{name}', mode=ctypes.RTLD_GLOBAL)
                break
            except OSError as e:
                problem = e
        else:
            raise ConfigError(
                f'A GPU needs {name}, which cannot be loaded ({problem}). Run: pip '
                'install "parlai_q2[cuda]", or take a CPU: --scorer-device cpu, or '
                '--device cpu for a generator.'
            )


def _find_wheel() -> list[Path]:
    """Find the folder of NVIDIA's libraries that pip installed, if any."""
    try:
        spec = importlib.util.find_spec('nvidia.cublas')
    except ModuleNotFoundError:
        return []
    folders = spec.submodule_search_locations if spec else None
    return [Path(folder) / 'lib' for folder in folders or ()]


def choose_device(gpu: str = 'cuda') -> str:
    """A GPU if there is one and the shipped models run on it, else the CPU."""
    return gpu if gpus() and not find_problem(gpu) else CPU


@cache
def find_problem(device: str) -> str:
    """
    The reason why the shipped models do not run on a GPU, which is logged once; empty
    if they do. To test it, the smallest of them reads a word there.
    """
    from parlai_q2.models.converted.binary import ENCODER
    from parlai_q2.models.converted.engine import (
        ComputeType,
        ConvertedEncoder,
        effective_type,
    )
    from parlai_q2.models.converted.reader import read_model

    try:
        converted = read_model(shipped_folder(TRIED), ENCODER)
        kind = effective_type(ComputeType.AUTO, device)
        encoder = ConvertedEncoder(converted, device, kind, 1)
        encoder.means(encoder.tokens.texts(['a'], 8))
    except (Q2Error, ImportError, RuntimeError, ValueError) as e:
        problem = ' '.join(str(e).split())
        _logger.warning(f'The models run on the CPU, not on the GPU: {problem}')
        return problem
    return ''
