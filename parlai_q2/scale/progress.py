"""
How far a run is and how long it still takes, by the bytes of its input.

How many records a file holds is known only at its end; how many bytes it has is known
at once. On a terminal that is a bar, elsewhere (a log, a cluster's job) a line now and
then.
"""

import sys
import time
from datetime import timedelta
from typing import Callable, Optional, TextIO

from tqdm import tqdm

# tqdm measures from the start, and so counts the loading of models against the speed.
# What it shows of the speed is ours.
BAR = '{percentage:3.0f}%|{bar:20}| {desc}'


class Progress:
    """
    Tells how far a run is; to be closed.

    :param name: what is being done.
    :param total: bytes of the input.
    :param log: takes a line, where there is no terminal.
    :param every: seconds between two lines; 0 or less for none.
    :param stream: where the bar goes; default: the standard error.
    :param clock: gives seconds.
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
        Say how much an earlier run has done: it does not count for the speed.

        :param records: records done.
        :param read: bytes of the input that they took.
        """
        self._began = self._told = self._clock()
        self._records = records
        # When and where speed is measured from: the first result, since starting and
        # loading models would count against it.
        self._since: Optional[tuple[float, int, int]] = None
        if self._bar is not None:
            self._show(read)

    def update(self, records: int, read: int) -> None:
        """
        Say how far the run is.

        :param records: records just done.
        :param read: bytes of the input read for all that are done.
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
        """
        How far the run is, for people.

        :param read: bytes of the input read for all that is done.
        """
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
        """
        Leave the terminal to others.
        """
        if self._bar is not None:
            self._bar.close()


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
