"""
What the commands show: their log, their progress and their results. With ParlAI loaded,
messages go through the log of ParlAI and follow its ``--loglevel``. Otherwise they are
printed in the same form. Progress is a bar on a terminal, and elsewhere (a log, a
cluster job) a line from time to time.
"""

import logging
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from tqdm import tqdm

from parlai_q2.errors import Q2Error

logger = logging.getLogger('parlai_q2')
debug, info, warning, error = logger.debug, logger.info, logger.warning, logger.error
# How many problems are logged one by one.
MAX_LOGGED = 20
# Seconds between two lines.
EVERY = 10.0
# tqdm's own speed would include the time it takes to load models, so the description
# shows ours instead.
BAR = '{percentage:3.0f}%|{bar:20}| {desc}'


class Problems:
    """
    Logs problems, at most :data:`MAX_LOGGED`, and each kind in full once; the rest are
    only counted.

    :param what: stands before each, e.g. ``Not scored``.
    """

    def __init__(self, what: str):
        self.what, self.count = what, 0
        self._logged: set[str] = set()

    def add(self, problem: object) -> None:
        """Log one problem."""
        self.count += 1
        place, problem_text = _split(problem)
        if self.count <= MAX_LOGGED and problem_text in self._logged:
            error(f'{self.what}: {place}: the same')
        elif self.count <= MAX_LOGGED:
            self._logged.add(problem_text)
            error(f'{self.what}: {problem}')
        elif self.count == MAX_LOGGED + 1:
            error('Further bad records are only counted.')


def _split(problem: object) -> tuple[str, str]:
    """Where a problem is, and what it is."""
    text = str(problem)
    place, _, what = text.partition(': ')
    return (place, what) if what else (text, text)


class CommandHandler(logging.Handler):
    """
    Prints messages on the standard error, or through ParlAI's log where that is loaded.
    The standard output is for results.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Print one message."""
        parlai = sys.modules.get('parlai.utils.logging')
        if parlai is not None:
            if record.levelno >= parlai.logger.level:
                parlai.logger.handle(record)
            return
        try:
            clock = time.strftime('%H:%M:%S', time.localtime(record.created))
            sys.stderr.write(f'{clock} | {record.getMessage()}\n')
            sys.stderr.flush()
        except Exception:
            # A log that nobody reads ends no run.
            self.handleError(record)


def show_result(text: str) -> None:
    """Print what a command was asked for on the standard output."""
    sys.stdout.write(f'{text}\n')
    sys.stdout.flush()


def run_module(main: Callable[[], object]) -> None:
    """
    Run what ``python -m`` names. An expected error is one line on the standard error,
    and the exit status 2.
    """
    try:
        main()
    except Q2Error as problem:
        sys.stderr.write(f'{problem}\n')
        sys.exit(2)


def show_log(level: int = logging.INFO) -> None:
    """Show the log of this process from a level on."""
    logger.setLevel(level)
    logger.propagate = False
    if not any(isinstance(h, CommandHandler) for h in logger.handlers):
        logger.addHandler(CommandHandler())


class Progress:
    """
    A context manager that counts what is done. A run that was long enough for a line
    of the log has another one at its end, unless that is an error.

    :param total: how much there is to do; None if unknown.
    :param start: how much of it an earlier run has done.
    :param place: how far in the input that run came, where ``total`` is the input's
        size in bytes, as the number of its records is known only at its end.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        unit: str,
        start: int = 0,
        place: int | None = None,
    ):
        self._name, self._total, self._unit = name, total, unit
        self._done, self._place = start, start if place is None else place
        self._by_place = place is not None
        self._began = self._logged_at = time.monotonic()
        self._logged: int | None = None
        # Speed is measured from the first result (time, units, place), so that it does
        # not include starting and loading models.
        self._since: tuple[float, int, int] | None = None
        self._bar: tqdm | None = None
        if sys.stderr.isatty() and logger.isEnabledFor(logging.INFO):
            self._bar = tqdm(total=total, bar_format=BAR if total else '{desc}')
            self._draw(self._bar)

    def __enter__(self) -> 'Progress':
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif kind is None and self._logged not in (None, self._done):
            self._log()

    def skip(self, count: int, place: int) -> None:
        """Note what an earlier run has done; it does not count for the speed."""
        self._done += count
        self._place += place
        if self._bar is not None:
            self._draw(self._bar)

    def update(self, count: int, place: int | None = None) -> None:
        """
        Report the units done since the last call, and how far the input is done by now
        where that is what is measured.
        """
        self._done += count
        if self._total and not self._by_place:
            # An episode is finished even if it has more turns than were wanted.
            self._total = max(self._total, self._done)
        self._place = self._done if place is None else place
        if self._since is None:
            self._since = time.monotonic(), self._done, self._place
        if self._bar is not None:
            self._draw(self._bar)
        elif time.monotonic() - self._logged_at >= EVERY:
            self._log()

    def _draw(self, bar: tqdm) -> None:
        bar.n = min(self._place, self._total or self._place)
        bar.set_description_str(f'{self._name}: {self._state()}')

    def _log(self) -> None:
        self._logged_at, self._logged = time.monotonic(), self._done
        share = ''
        if self._by_place and self._total:
            share = f'{min(1.0, self._place / self._total):.1%}, '
        info(f'{self._name}: {share}{self._state()}')

    def _state(self) -> str:
        """What is done, how fast, and how long the rest will take."""
        now, speed, remaining = time.monotonic(), '', ''
        if self._since is not None and self._place > self._since[2]:
            seconds = max(now - self._since[0], 1e-9)
            speed = f', {(self._done - self._since[1]) / seconds:,.1f} a second'
            if self._total:
                rest = max(0, self._total - self._place)
                pace = seconds / (self._place - self._since[2])
                remaining = f', {_duration(pace * rest)} left'
        total = f' of {self._total:,}' if self._total and not self._by_place else ''
        amount = f'{self._done:,}{total} {self._unit}{speed}'
        return f'{amount}, {_duration(now - self._began)} elapsed{remaining}'


def _duration(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
