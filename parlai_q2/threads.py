"""
Keeps torch's threads from wasting CPU time while they wait for one another.

torch runs one thread per core, and a thread that finishes early spins until the others
are done. By default it spins for so long that, on a busy machine, most of the CPU time
is spent waiting: scoring has been seen to take twenty times as long. The ``parlai_q2``
commands therefore let threads spin only briefly before they sleep. A setting of your
own takes precedence. For other programs, including plain ``parlai``, set it in the
shell::

    export GOMP_SPINCOUNT=1000     # or OMP_NUM_THREADS=1 on a busy machine

The number of threads does not change: torch and ``OMP_NUM_THREADS`` determine it.
"""

import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

SPIN_COUNT = 'GOMP_SPINCOUNT'
# Iterations of the spin loop: a few microseconds, enough for the next layer to start.
BRIEF = '1000'
# If one of these is set, the user has chosen how threads wait.
SAID = (SPIN_COUNT, 'OMP_WAIT_POLICY', 'KMP_BLOCKTIME')


def spin_briefly(
    environment: MutableMapping[str, str] = os.environ,
    modules: Mapping[str, Any] = sys.modules,
) -> bool:
    """
    Let threads spin only briefly, unless the user has chosen how they wait.

    :param environment: the environment variables, changed in place.
    :param modules: the imported modules. torch reads the setting when it is imported,
        so nothing is changed after that.
    :return: whether the setting was changed.
    """
    if 'torch' in modules or any(name in environment for name in SAID):
        return False
    environment[SPIN_COUNT] = BRIEF
    return True
