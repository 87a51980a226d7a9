"""
Counts what a command has done: by a bar on a terminal, elsewhere by a line of the log
from time to time.
"""

import sys
import time
from datetime import timedelta
from typing import Any, Optional

from tqdm import tqdm

from parlai_q2.cli import log

# Seconds between two lines.
EVERY = 10.0


def counting(name: str, total: Optional[int], unit: str, done: int = 0) -> Any:
    """
    A context manager with ``update(n)``.

    :param total: how many units there are to do, e.g. ``pools``; None if unknown.
    :param done: how many an earlier run has done.
    """
    if sys.stderr.isatty():
        return tqdm(total=total, initial=done, desc=name, unit=f' {unit}')
    return Lines(name, total, unit, done)


class Lines:
    """Logs progress; the last line comes at the end."""

    def __init__(self, name: str, total: Optional[int], unit: str, done: int):
        self.name, self.unit, self.n = name, unit, done
        self.of = '' if total is None else f' of {total:,}'
        self.began = self.told = time.monotonic()
        self.said = -1

    def __enter__(self) -> 'Lines':
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        if kind is None:
            self.close()

    def close(self) -> None:
        """Log the last line, unless it was logged."""
        if self.said != self.n:
            self._say()

    def update(self, count: int) -> None:
        """Count what was done since the last call."""
        self.n += count
        if time.monotonic() - self.told >= EVERY:
            self._say()

    def _say(self) -> None:
        self.told, self.said = time.monotonic(), self.n
        elapsed = timedelta(seconds=round(self.told - self.began))
        log.info(f'{self.name}: {self.n:,}{self.of} {self.unit}, {elapsed} elapsed')
