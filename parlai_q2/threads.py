"""
How many cores a process computes on, and how torch's threads wait for one another.

Where torch computes, a thread that finishes early spins until the others are done, and
on a busy machine, scoring has been seen to take twenty times as long. The ``parlai_q2``
commands let threads spin only briefly. Elsewhere, set ``GOMP_SPINCOUNT=1000``.
"""

import os
import sys
from pathlib import Path
from typing import Optional

SPIN_COUNT = 'GOMP_SPINCOUNT'
# Iterations of the spin loop: a few microseconds, enough for the next layer to start.
BRIEF = '1000'
# If one of these is set, the user has chosen how threads wait.
SAID = (SPIN_COUNT, 'OMP_WAIT_POLICY', 'KMP_BLOCKTIME')
# The variable that limits the threads of a process, as OpenMP has it.
LIMIT = 'OMP_NUM_THREADS'
# On Linux, the CPU quota of the container: microseconds of CPU time, and per period.
CPU_QUOTA = Path('/sys/fs/cgroup/cpu.max')


def spin_briefly() -> None:
    """
    Let threads spin only briefly, unless the user has chosen how they wait, or torch is
    imported and has read the setting.
    """
    if 'torch' not in sys.modules and not any(name in os.environ for name in SAID):
        os.environ[SPIN_COUNT] = BRIEF


def cores() -> int:
    """
    The number of cores to compute on: those that this process may use, or as many as
    ``OMP_NUM_THREADS`` allows.
    """
    said = threads_said(LIMIT)
    return usable_cores() if said is None else said


def usable_cores() -> int:
    """
    The number of CPU cores that this process may use, according to its affinity and the
    quota of its container.
    """
    if hasattr(os, 'sched_getaffinity'):
        found = len(os.sched_getaffinity(0))
    else:
        found = os.cpu_count() or 1
    try:
        quota, period = CPU_QUOTA.read_text().split()
        found = min(found, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass  # no such file, or "max": no quota
    return found


def threads_said(name: str) -> Optional[int]:
    """
    The number of threads that an environment variable sets; None if it is not set.

    As in OpenMP, a value that is not a positive number counts as not set, and of a list
    (one number per nesting level) the first number counts.
    """
    first = os.environ.get(name, '').split(',')[0].strip()
    return int(first) if first.isdecimal() and int(first) else None
