"""
Devices by name.
"""

from parlai_q2.errors import ConfigError

CPU = 'cpu'


def gpus() -> list[str]:
    """
    The GPUs that torch sees, as devices are named.
    """
    import torch

    return [f'cuda:{n}' for n in range(torch.cuda.device_count())]


def is_cpu(device: str) -> bool:
    """
    Whether a device is the processor, so that calls are cheap and padding is not.

    :param device: a torch device name.
    """
    return device.partition(':')[0] == CPU


def check_name(name: str, said: str = 'The device is') -> None:
    """
    See to it that a device's name is one.

    :param name: a torch device name, such as ``cuda:0``.
    :param said: what named it, for the message.
    :raises ConfigError: when it is none.
    """
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
    """
    See to it that a device is there, before a model is loaded for it.

    :param name: a torch device name.
    :param said: what named it, for the message.
    :raises ConfigError: when it is no such name, or a GPU that torch does not see.
    """
    check_name(name, said)
    kind, _, number = name.partition(':')
    there = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in there:
        raise ConfigError(
            f'{said} {name!r}, which is not available. The GPUs that torch sees: '
            f'{", ".join(there) or "none"}.'
        )
