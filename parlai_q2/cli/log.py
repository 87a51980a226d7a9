"""
The output of commands: their log, their progress and their results. With ParlAI loaded,
messages go through the log of ParlAI and follow its ``--loglevel``. Otherwise they are
printed in the same form. Progress is a bar on a terminal, and elsewhere (a log, a
cluster job) a line from time to time.
"""

import io
import logging
import sys
import time
from collections.abc import Callable

from tqdm import tqdm

from parlai_q2.errors import Q2Error

logger = logging.getLogger('parlai_q2')
debug, info, warning, error = logger.debug, logger.info, logger.warning, logger.error
# The number of problems that are logged one by one.
MAX_LOGGED = 20
# Seconds between two lines.
EVERY = 10.0
LINE = '{desc}: {n_fmt}/{total_fmt}{unit} [{elapsed}<{remaining}, {rate_fmt}{postfix}]'
BAR = f'{{percentage:3.0f}}%|{{bar:20}}| {LINE}'


class Problems:
    """
    Logs problems, at most :data:`MAX_LOGGED`, and each kind in full once; the rest are
    only counted.

    :param what: the words before each problem, e.g. ``Not scored``.
    """

    def __init__(self, what: str):
        self.what, self.count = what, 0
        self._logged: set[str] = set()

    def add(self, problem: object) -> None:
        self.count += 1
        place, _, text = str(problem).partition(': ')
        text = text or place
        if self.count <= MAX_LOGGED and text in self._logged:
            error(f'{self.what}: {place}: the same')
        elif self.count <= MAX_LOGGED:
            self._logged.add(text)
            error(f'{self.what}: {problem}')
        elif self.count == MAX_LOGGED + 1:
            error('Further bad records are only counted.')


class CommandHandler(logging.Handler):
    """
    Prints messages on the standard error, or through ParlAI's log if that is loaded.
    The standard output is for results.
    """

    def emit(self, record: logging.LogRecord) -> None:
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
            # A closed log must not end a run.
            self.handleError(record)


def show_result(text: str) -> None:
    """Print a command's result on the standard output."""
    sys.stdout.write(f'{text}\n')
    sys.stdout.flush()


def run_module(main: Callable[[], object]) -> None:
    """Run a module as ``python -m``; an expected error is one line, with status 2."""
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


class Progress(tqdm):
    """
    A bar on a terminal; elsewhere a line of the log now and then and, after at least
    one, at the end.

    :param total: the amount of work; None if unknown.
    :param start: the part of it that an earlier run has done.
    """

    def __init__(self, name: str, total: int | None, unit: str, start: int = 0):
        self._is_bar = sys.stderr.isatty() and logger.isEnabledFor(logging.INFO)
        self._logged: tuple[float, str | None] | None = None
        options = {} if self._is_bar else {'mininterval': EVERY, 'delay': EVERY}
        # The log, not tqdm, writes its lines.
        file = sys.stderr if self._is_bar else io.StringIO()
        super().__init__(
            desc=name,
            total=total,
            unit=f' {unit}',
            initial=start,
            file=file,
            bar_format=BAR if self._is_bar and total else LINE,
            **options,
        )

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        if self._is_bar:
            super().display(msg, pos)
        elif self._logged != (self.n, self.postfix):
            self._logged = self.n, self.postfix
            info(str(self))


class InputProgress(Progress):
    """
    The progress in an input that is measured in bytes, as the number of its records is
    known only at its end.
    """

    def __init__(self, name: str, total: int | None, unit: str):
        super().__init__(name, total, 'B')
        self.unit, self.unit_scale = 'B', True
        self._records, self._noun = 0, unit

    def read(self, count: int, place: int) -> None:
        """Report further records, and the bytes of the input read so far."""
        self._records += count
        self.set_postfix_str(f'{self._records:,} {self._noun}', refresh=False)
        self.update(place - self.n)
