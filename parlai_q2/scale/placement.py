"""
Which device and how many threads each worker gets.
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple, Optional

from parlai_q2.errors import ConfigError
from parlai_q2.models.device import check_device, gpus

ALL = 'all'
# What the libraries below torch and the tokenizers take their number of threads from.
THREAD_VARIABLES = ('OMP_NUM_THREADS', 'MKL_NUM_THREADS', 'RAYON_NUM_THREADS')
# Linux: the processor time that a container may have, as "microseconds per period".
CPU_QUOTA = Path('/sys/fs/cgroup/cpu.max')


class Place(NamedTuple):
    """
    Where one worker computes.

    :param device: a torch device name, or None for the scorer's own choice.
    :param threads: threads for its processor work.
    """

    device: Optional[str]
    threads: int


def places(
    workers: Optional[int], devices: Optional[str], cores: Optional[int] = None
) -> list[Place]:
    """
    A place for each worker: devices in turn, threads shared out.

    :param workers: how many; None for one a device.
    :param devices: device names parted by commas, ``all`` for every GPU, or None.
    :param cores: processor cores to share out; default: those this process may use.
    :return: at least one place.
    :raises ConfigError: for no workers, fewer workers than devices, or a device that is
        not there.
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
    The devices that ``--devices`` names, each checked.

    :param devices: as for :func:`places`. A name may stand there twice, for two
        workers.
    :raises ConfigError: when one is not there, or they are not of one kind.
    """
    if not devices:
        return []
    names = [name.strip() for name in devices.split(',')]
    if names == [ALL]:
        names = gpus()
        if not names:
            raise ConfigError(
                '--devices all means every GPU, but torch sees none. Use '
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


def usable_cores() -> int:
    """
    Processor cores that this process may use: by its affinity, and by the quota of the
    container it runs in.
    """
    if hasattr(os, 'sched_getaffinity'):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA.read_text().split()
        cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass  # no such file, or "max": no quota
    return cores


def use_threads(threads: int) -> None:
    """
    Let this process compute with so many threads, unless its environment says how many.
    """
    os.environ.update(thread_settings(threads))
    if 'torch' in sys.modules:
        # It has read the environment already, with the main module perhaps.
        sys.modules['torch'].set_num_threads(threads_said('OMP_NUM_THREADS'))


def thread_settings(threads: int) -> dict[str, str]:
    """
    Environment variables for a process with so many threads; those that a person has
    set stay.
    """
    unsaid = (name for name in THREAD_VARIABLES if threads_said(name) is None)
    return dict.fromkeys(unsaid, str(threads))


def threads_said(name: str) -> Optional[int]:
    """
    How many threads an environment variable asks for; None where it is not set. As
    OpenMP has it, what is no number above 0 says nothing, and of a list, which is of
    nested levels, the first counts.
    """
    first = os.environ.get(name, '').split(',')[0].strip()
    return int(first) if first.isdecimal() and int(first) else None
