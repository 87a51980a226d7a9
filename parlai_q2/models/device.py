"""
Looks up and checks devices by name.
"""

from parlai_q2.errors import ConfigError

CPU = 'cpu'


def gpus() -> list[str]:
    """
    The device names of the GPUs that torch sees.
    """
    import torch

    return [f'cuda:{n}' for n in range(torch.cuda.device_count())]


def is_cpu(device: str) -> bool:
    """
    Whether a device is the CPU, where calls are cheap and padding is expensive.

    :param device: a torch device name.
    """
    return device.partition(':')[0] == CPU


def check_name(name: str, said: str = 'The device is') -> None:
    """
    Check that a name is a valid device name.

    :param name: a torch device name, such as ``cuda:0``.
    :param said: the start of the message, which says where the name comes from.
    :raises ConfigError: if it is not valid.
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
    Check that a device exists, before a model is loaded for it.

    :param name: a torch device name.
    :param said: the start of the message, which says where the name comes from.
    :raises ConfigError: if the name is not valid, or is a GPU that torch does not see.
    """
    check_name(name, said)
    kind, _, number = name.partition(':')
    there = gpus() if kind == 'cuda' else []
    if kind == 'cuda' and f'cuda:{number or 0}' not in there:
        raise ConfigError(
            f'{said} {name!r}, which is not available. The GPUs that torch sees: '
            f'{", ".join(there) or "none"}.'
        )
