"""
Shows how far a run is and how long it will still take, by the bytes of its input.

The number of records in a file is known only at its end, the number of bytes from the
start. On a terminal, progress is a bar; elsewhere (a log, a cluster job), it is a line
from time to time.
"""

import sys
import time
from datetime import timedelta
from typing import Callable, Optional, TextIO

from tqdm import tqdm

# tqdm's own speed would include the time it takes to load models, so the description
# shows ours instead.
BAR = '{percentage:3.0f}%|{bar:20}| {desc}'


class Progress:
    """
    Shows the progress of a run. Call :meth:`close` when it is done.

    :param total: the size of the input, in bytes.
    :param log: called with a line of text if there is no terminal.
    :param every: seconds between two lines; 0 or less for none.
    :param stream: where to show the bar; default: standard error.
    """

    def __init__(
        self,
        name: str,
        total: int,
        log: Callable[[str], None],
        every: float = 10.0,
        stream: Optional[TextIO] = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        stream = stream or sys.stderr
        self._name, self._total, self._log, self._every = name, total, log, every
        self._clock = clock
        self._records = 0
        self._bar: Optional[tqdm] = None
        if stream.isatty():
            self._bar = tqdm(desc=name, total=total, file=stream, bar_format=BAR)
        self.resume(0, 0)

    def resume(self, records: int, read: int) -> None:
        """
        Report what an earlier run has done, in records and bytes of the input, which
        does not count towards the speed.
        """
        self._began = self._told = self._clock()
        self._records = records
        # Speed is measured from the first result (time, records, bytes), so that it
        # does not include starting and loading models.
        self._since: Optional[tuple[float, int, int]] = None
        if self._bar is not None:
            self._show(read)

    def update(self, records: int, read: int) -> None:
        """
        Report the records done since the last call, and all bytes of the input done.
        """
        self._records += records
        if self._since is None:
            self._since = self._clock(), self._records, read
        if self._bar is not None:
            self._show(read)
        elif 0 < self._every <= self._clock() - self._told:
            self._told = self._clock()
            self._log(self.sentence(read))

    def sentence(self, read: int) -> str:
        """The progress, as a line of text."""
        share = min(1.0, read / self._total) if self._total else 1.0
        return f'{self._name}: {share:.1%}, {self._state(read)}'

    def _state(self, read: int) -> str:
        now = self._clock()
        amount, speed, left = f'{self._records:,} records', '', ''
        if self._since is not None and read > self._since[2]:
            seconds = max(now - self._since[0], 1e-9)
            speed = f', {(self._records - self._since[1]) / seconds:,.1f} a second'
            pace = seconds / (read - self._since[2])
            left = f', {_duration(pace * max(0, self._total - read))} left'
        return f'{amount}{speed}, {_duration(now - self._began)} elapsed{left}'

    def _show(self, read: int) -> None:
        assert self._bar is not None
        self._bar.n = min(read, self._total)
        self._bar.set_description_str(f'{self._name}: {self._state(read)}')

    def close(self) -> None:
        """Remove the bar's hold on the terminal."""
        if self._bar is not None:
            self._bar.close()


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
