"""Devices by name, and computing the same whatever the surrounding program has set."""

import importlib.util
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from parlai_q2.errors import ConfigError

if TYPE_CHECKING:
    import torch

# A GPU where one works, else the CPU.
AUTO = 'auto'
CPU = 'cpu'
# What Linux has where there is a driver for NVIDIA's GPUs.
DRIVER = Path('/proc/driver/nvidia')


def gpus() -> list[str]:
    """The GPUs that CTranslate2 or torch see, by name."""
    return [f'cuda:{n}' for n in range(count_gpus())]


def count_gpus() -> int:
    import ctranslate2

    count = ctranslate2.get_cuda_device_count()
    # torch may be built for a machine that CTranslate2 is not; it is slow to ask.
    if (
        not count
        and (DRIVER.exists() or shutil.which('nvidia-smi'))
        and importlib.util.find_spec('torch') is not None
    ):
        import torch

        count = torch.cuda.device_count()
    return int(count)


def is_cpu(device: str) -> bool:
    """Whether a device is the CPU, where calls are cheap and padding is expensive."""
    return device.partition(':')[0] == CPU


def check_name(name: str, subject: str = 'The device is') -> None:
    """Raise ConfigError, which begins with ``subject``, unless it names a device."""
    if re.fullmatch(r'auto|cpu|cuda(:\d+)?', name):
        return
    try:
        import torch

        torch.device(name)
    except (ImportError, RuntimeError, TypeError) as e:
        raise ConfigError(
            f'{subject} {name!r}, which is no device. Use cpu or cuda:0.'
        ) from e


def check_device(name: str, subject: str = 'The device is') -> None:
    """As :func:`check_name`, and the device must be there to load a model for it."""
    check_name(name, subject)
    kind, _, number = name.partition(':')
    available = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in available:
        raise ConfigError(
            f'{subject} {name!r}, which is not available. The GPUs that are seen: '
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
    """
    Create tensors in fp32, whatever the host program's default: it would round weights.
    """
    import torch

    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
