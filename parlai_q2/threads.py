"""
Keeps torch's threads from wasting CPU time while they wait for one another: one that
finishes early spins until the others are done, and on a busy machine, scoring has been
seen to take twenty times as long. The ``parlai_q2`` commands let threads spin only
briefly. Elsewhere, set ``GOMP_SPINCOUNT=1000``, or ``OMP_NUM_THREADS=1``.
"""

import os
import sys

SPIN_COUNT = 'GOMP_SPINCOUNT'
# Iterations of the spin loop: a few microseconds, enough for the next layer to start.
BRIEF = '1000'
# If one of these is set, the user has chosen how threads wait.
SAID = (SPIN_COUNT, 'OMP_WAIT_POLICY', 'KMP_BLOCKTIME')


def spin_briefly() -> None:
    """
    Let threads spin only briefly, unless the user has chosen how they wait, or torch is
    imported and has read the setting.
    """
    if 'torch' not in sys.modules and not any(name in os.environ for name in SAID):
        os.environ[SPIN_COUNT] = BRIEF
