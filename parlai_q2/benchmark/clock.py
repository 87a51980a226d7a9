"""Clocks, and a description of the machine that the timings were taken on."""

import math
import os
import platform
import resource
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from parlai_q2.models.device import gpus
from parlai_q2.threads import cores


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call took, and what it returned."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


class StageClock:
    """Adds up the time of each stage of a job."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function, so that its time is added to a stage."""

        def run(*args: Any) -> Any:
            seconds, result = timed(lambda: function(*args))
            self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
            return result

        return run

    def shares(self) -> dict[str, float]:
        """Each stage's share of the stages' time; they sum to 1."""
        total = sum(self.seconds.values()) or 1.0
        return {name: round(s / total, 3) for name, s in self.seconds.items()}


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """The median, minimum, maximum and 95th percentile of times, at least one."""
    ordered = sorted(seconds)
    return {
        'median': median(ordered),
        'min': ordered[0],
        'p95': ordered[math.ceil(0.95 * len(ordered)) - 1],
        'max': ordered[-1],
    }


def machine() -> dict[str, Any]:
    """Describe the machine that the timings were taken on."""
    description: dict[str, Any] = {
        'processor': processor(),
        'cores': cores(),
        'python': platform.python_version(),
        # These limit the cores.
        'openmp': {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(('OMP_', 'GOMP_', 'MKL_', 'KMP_'))
        },
        'gpus': gpus(),
    }
    for package in ('ctranslate2', 'torch', 'transformers'):
        try:
            description[package] = version(package)
        except PackageNotFoundError:
            description[package] = None
    return description


def processor() -> str:
    """The processor's name, as far as the system reports it."""
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as lines:
            for line in lines:
                if line.startswith('model name'):
                    return line.partition(':')[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def processor_seconds(process: int) -> float | None:
    """
    The processor time that a process and all that it has started have taken so far;
    None where the system has no ``/proc``.
    """
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for path in Path('/proc').glob('[0-9]*/stat'):
        try:
            fields = path.read_text(errors='replace').rpartition(')')[2].split()
        except OSError:  # it has ended
            continue
        pid = int(path.parent.name)
        children.setdefault(int(fields[1]), []).append(pid)
        # User and system, of the process and of its children that have ended.
        ticks[pid] = sum(map(int, fields[11:15]))
    if process not in ticks:
        return None
    total, waiting = 0, [process]
    while waiting:
        pid = waiting.pop()
        total += ticks[pid]
        waiting += children.get(pid, [])
    return total / os.sysconf('SC_CLK_TCK')


def peak_memory_mb() -> float:
    """The peak memory of this process, in MB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts in bytes, others in kilobytes.
    return peak / (1e6 if platform.system() == 'Darwin' else 1e3)
