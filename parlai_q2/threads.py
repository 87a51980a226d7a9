"""
The number of cores a process computes on, how torch's threads wait for one another, and
whether a process keeps freed memory.

Where torch computes, a thread that finishes early spins until the others are done, and
on a busy machine, scoring has been seen to take twenty times as long. The ``parlai_q2``
commands let threads spin only briefly. Elsewhere, set ``GOMP_SPINCOUNT=1000``.
"""

import os
import sys
from functools import lru_cache
from pathlib import Path

SPIN_COUNT = 'GOMP_SPINCOUNT'
# Iterations of the spin loop: a few microseconds, enough for the next layer to start.
BRIEF_SPIN = '1000'
# Variables by which a user chooses how threads wait.
WAIT_SETTINGS = (SPIN_COUNT, 'OMP_WAIT_POLICY', 'KMP_BLOCKTIME')
# OpenMP's variable that limits the threads of a process.
LIMIT = 'OMP_NUM_THREADS'
# The variable for the threads of the tokenizers.
TOKENIZERS_LIMIT = 'RAYON_NUM_THREADS'
# Linux paths: the control groups, and the list of those of this process.
GROUPS, OWN_GROUP = Path('/sys/fs/cgroup'), Path('/proc/self/cgroup')
# glibc's parameters for freed memory (mallopt(3)) and their values: blocks of up to 32
# MB, the maximum, come from its heaps, of which 256 MB may be unused.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
MAX_UNUSED, MAX_HEAP_BLOCK = 2**28, 2**25
MEMORY_SETTINGS = ('GLIBC_TUNABLES', 'MALLOC_TRIM_THRESHOLD_', 'MALLOC_MMAP_THRESHOLD_')


def spin_briefly() -> None:
    """
    Let threads spin only briefly, unless the user has chosen how they wait, or torch is
    imported and has read the setting.
    """
    if 'torch' not in sys.modules and not any(
        name in os.environ for name in WAIT_SETTINGS
    ):
        os.environ[SPIN_COUNT] = BRIEF_SPIN


def cores() -> int:
    """
    The number of cores to compute on: those that this process may use, or as many as
    ``OMP_NUM_THREADS`` allows.
    """
    limit = read_threads(LIMIT)
    return usable_cores() if limit is None else limit


def limit_cores(count: int) -> None:
    """
    Limit the cores of this process and of those that it starts. Models that are loaded
    already keep their cores.
    """
    os.environ[LIMIT] = os.environ[TOKENIZERS_LIMIT] = str(count)
    if 'torch' in sys.modules:  # torch has read the variable
        sys.modules['torch'].set_num_threads(count)


def usable_cores() -> int:
    """
    The number of CPU cores that this process may use, according to its affinity and the
    quotas of its control groups, such as that of a container.
    """
    if hasattr(os, 'sched_getaffinity'):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return min([count, *(max(1, round(quota)) for quota in _quotas())])


def _quotas() -> list[float]:
    """The quotas, in cores, of this process's control groups and of those above."""
    folders = [GROUPS]
    try:
        # Version 2 has one line, with nothing between its two colons.
        _, found, path = OWN_GROUP.read_text().partition('0::/')
        if found:
            group = GROUPS / path.strip()
            folders += [f for f in (group, *group.parents) if GROUPS in f.parents]
    except (OSError, ValueError):
        pass  # not Linux, or an odd name
    return [quota for folder in folders if (quota := _quota(folder))]


def _quota(folder: Path) -> float | None:
    try:
        # Microseconds of CPU time, or "max", in each period.
        time, period = (folder / 'cpu.max').read_text().split()
        return max(0.0, int(time) / int(period)) or None
    except (OSError, ValueError, ZeroDivisionError):
        return None


@lru_cache(maxsize=1)
def keep_freed_memory() -> bool:
    """
    Let glibc keep what a model call frees for the next call, unless the user has set
    its variables; return whether it does. By default it returns large blocks to the
    system each time, which takes up to two fifths of the time of large calls.
    """
    if any(name in os.environ for name in MEMORY_SETTINGS) or os.name != 'posix':
        return False
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, 'gnu_get_libc_version'):
        return False
    return bool(
        library.mallopt(MMAP_THRESHOLD, MAX_HEAP_BLOCK)
        and library.mallopt(TRIM_THRESHOLD, MAX_UNUSED)
    )


def read_threads(name: str) -> int | None:
    """
    The number of threads that an environment variable sets; None if it sets none. As in
    OpenMP, of a list (one number per nesting level) the first number counts.
    """
    first = os.environ.get(name, '').split(',')[0].strip()
    return int(first) if first.isdecimal() and int(first) else None
