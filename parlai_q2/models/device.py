"""Devices by name, and computing the same whatever the surrounding program has set."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Iterator, Union

from parlai_q2.errors import ConfigError

if TYPE_CHECKING:
    import torch

CPU = 'cpu'


def gpus() -> list[str]:
    import torch

    return [f'cuda:{n}' for n in range(torch.cuda.device_count())]


def is_cpu(device: str) -> bool:
    """Whether a device is the CPU, where calls are cheap and padding is expensive."""
    return device.partition(':')[0] == CPU


def check_name(name: str, said: str = 'The device is') -> None:
    """Raise ConfigError, which begins with ``said``, unless torch knows the name."""
    if name == CPU:
        return
    import torch

    try:
        torch.device(name)
    except (RuntimeError, TypeError) as e:
        raise ConfigError(
            f'{said} {name!r}, which is not a torch device. Use cpu or cuda:0.'
        ) from e


def check_device(name: str, said: str = 'The device is') -> None:
    """As :func:`check_name`, and the device must be there to load a model for it."""
    check_name(name, said)
    kind, _, number = name.partition(':')
    there = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in there:
        raise ConfigError(
            f'{said} {name!r}, which is not available. The GPUs that torch sees: '
            f'{", ".join(there) or "none"}.'
        )


@contextmanager
def inference(device: Union[str, 'torch.device']) -> Iterator[None]:
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
