"""Decides which device and how many threads each worker gets."""

from typing import NamedTuple, Optional

from parlai_q2.errors import ConfigError
from parlai_q2.models.device import check_device, gpus
from parlai_q2.threads import threads_said, usable_cores

ALL = 'all'
# torch's libraries and the tokenizers read their number of threads from these.
THREAD_VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS')


class Place(NamedTuple):
    """
    Where one worker computes: a torch device's name (None for the scorer's default),
    and its number of CPU threads.
    """

    device: Optional[str]
    threads: int


def places(
    workers: Optional[int], devices: Optional[str], cores: Optional[int] = None
) -> list[Place]:
    """
    A place for each worker: devices are assigned in turn, threads are divided evenly.

    :param workers: the number of workers; None for one per device.
    :param devices: comma-separated device names, ``all`` for every GPU, or None.
    :param cores: the CPU cores to divide; default: those that this process may use.
    :return: at least one place.
    :raises ConfigError: if there are no workers, fewer workers than devices, or a
        device does not exist.
    """
    names = device_names(devices)
    if workers is None:
        workers = max(1, len(names))
    if workers < 1:
        raise ConfigError(f'--workers must be at least 1, not {workers}.')
    if workers < len(names):
        raise ConfigError(
            f'--workers {workers} leaves some of the {len(names)} devices '
            f'({", ".join(names)}) without work. Leave --workers out for one worker a '
            'device, or name fewer --devices.'
        )
    threads = max(1, (cores or usable_cores()) // workers)
    return [
        Place(names[n % len(names)] if names else None, threads) for n in range(workers)
    ]


def device_names(devices: Optional[str]) -> list[str]:
    """
    The names in the value of ``--devices``, where one may occur twice, for two workers.

    :raises ConfigError: if a device does not exist, or they are of different kinds.
    """
    if not devices:
        return []
    names = [name.strip() for name in devices.split(',')]
    if names == [ALL]:
        names = gpus()
        if not names:
            raise ConfigError(
                '--devices all means every GPU, but none is seen. Use '
                '--workers to run several processes on the CPU.'
            )
    for name in names:
        check_device(name, '--devices has')
    kinds = sorted({name.partition(':')[0] for name in names})
    if len(kinds) > 1:
        raise ConfigError(
            f'--devices {devices} mixes {" and ".join(kinds)}, which compute '
            'differently (CPUs in int8, GPUs in float32), so the scores would '
            'not be comparable.'
        )
    return names


def thread_settings(threads: int) -> dict[str, str]:
    """The variables that set a number of threads, without those set by the user."""
    unsaid = (name for name in THREAD_VARIABLES if threads_said(name) is None)
    return dict.fromkeys(unsaid, str(threads))
