"""
Processes that are killed with 9 at a chosen place: at a line of our code, or when a
file has grown so far. They are forked, so that a kill costs no imports.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import parlai_q2

SECONDS = 120
# Kills of each kind of run. The whole of them: Q2_KILLS=20
KILLS = int(os.environ.get('Q2_KILLS', 2))
# What reads, scores, keeps and writes; a kill within a library it calls happens at the
# line that calls it.
OURS = tuple(
    f'{Path(parlai_q2.__file__).parent / name}{os.sep}'
    for name in ('cache', 'filtering', 'io', 'parlai', 'scale', 'scripts')
)


def spread(kind):
    """
    As many random places in [0, 1) as there are kills, one in each equal part, so that
    the first and the last part of a run are among them.
    """
    return [(n + random.Random(f'{kind} {n}').random()) / KILLS for n in range(KILLS)]


class Forked:
    """
    A function that runs in a process of its own, in a folder of its own.

    :param folder: where it runs; made.
    :param function: takes nothing.
    :param at_line: kill it before it runs so many lines of our code.
    """

    def __init__(self, folder, function, at_line=None):
        folder.mkdir(exist_ok=True)
        self.id = os.fork()
        if not self.id:
            self._run(folder, function, at_line)

    def _run(self, folder, function, at_line):
        ended = 1
        try:
            os.chdir(folder)
            nowhere = os.open('said.txt', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            os.environ['PARLAI_Q2_CACHE'] = str(folder / 'scores.sqlite')
            lines = Lines(at_line)
            function()
            sys.settrace(None)
            Path('lines.txt').write_text(str(lines.count))
            ended = 0
        except BaseException:
            import traceback

            os.write(2, traceback.format_exc().encode())
        finally:
            # Nothing of the tests' may run twice.
            os._exit(ended)

    def wait(self):
        """How it ended: 0, an error, or minus the signal."""
        deadline = time.monotonic() + SECONDS
        while True:
            process, status = os.waitpid(self.id, os.WNOHANG)
            if process:
                return os.waitstatus_to_exitcode(status)
            if time.monotonic() > deadline:
                os.kill(self.id, signal.SIGKILL)
            time.sleep(0.002)

    def kill_when(self, path, size):
        """
        Kill it when a file has so many bytes, or, where it is quicker, has its name.
        """
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if path.exists() and path.stat().st_size >= size:
                break
            if os.waitid(os.P_PID, self.id, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
            time.sleep(0.001)
        os.kill(self.id, signal.SIGKILL)
        return self.wait()


class Lines:
    """
    Counts the lines of our code that this process runs, from now on.

    :param last: the number of the line before which it kills itself.
    """

    def __init__(self, last=None):
        self.count, self.last = 0, last
        sys.settrace(self.enter)

    def enter(self, frame, event, argument):
        return self.line if frame.f_code.co_filename.startswith(OURS) else None

    def line(self, frame, event, argument):
        if event == 'line':
            self.count += 1
            if self.count == self.last:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.line


def lines_of(folder):
    """How many lines of our code a run took that was not killed."""
    return int((folder / 'lines.txt').read_text())


def tear(path, place):
    """
    Cut a file that a killed run left short, as if the system had written only a part of
    the last lines.

    :param place: how much of the last two hundred bytes goes, in [0, 1).
    """
    if path.exists():
        size = path.stat().st_size
        os.truncate(path, size - int(place * min(size, 200)))
