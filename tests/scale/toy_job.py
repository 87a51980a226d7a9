"""A job without a model, whose items say what happens to their process."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from parlai_q2.errors import ModelError
from parlai_q2.runs.file_run import Loaded


class TwoPartError(Exception):
    """An error that cannot be unpickled, like many with arguments of their own."""

    def __init__(self, first, second):
        super().__init__(f'{first} and {second}')


class ToyItem(str):
    @property
    def place(self):
        return f'item {self}'


class ToyChunk(NamedTuple):
    items: list


def chunks(items, size=4):
    """Items in chunks of equal size."""
    items = [ToyItem(item) for item in items]
    return iter([ToyChunk(items[n : n + size]) for n in range(0, len(items), size)])


class ToyWork:
    def __init__(self, folder, seconds):
        self.folder, self.seconds = Path(folder), seconds
        (self.folder / f'worker.{os.getpid()}').write_text('')

    def __call__(self, items):
        with open(self.folder / f'worker.{os.getpid()}', 'a') as stream:
            stream.write(f'{items[0]}\n')
        time.sleep(self.seconds)
        return [self.one(item) for item in items]

    def one(self, item):
        if 'die always' in item:
            os.kill(os.getpid(), signal.SIGKILL)
        if 'die once' in item and not self.marked(item):
            os.kill(os.getpid(), signal.SIGKILL)
        if 'fill once' in item and not self.marked(item):
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        if 'raise' in item:
            raise ZeroDivisionError('of the job')
        if 'break' in item:
            raise TwoPartError('one part', 'another')
        if 'refuse' in item:
            raise ModelError('The model is not there. Fetch it.')
        if 'slow' in item:
            time.sleep(1)
        return f'{item} is done with {os.environ.get("OMP_NUM_THREADS")}'

    def marked(self, item):
        mark = self.folder / f'mark {item}'
        before = mark.exists()
        mark.write_text('')
        return before


@dataclass(frozen=True)
class ToyJob:
    """
    :param folder: where each process that loads it leaves a file of its name.
    :param seconds: that a call takes.
    :param start: what happens when it is loaded: '', 'die' or 'refuse'.
    """

    folder: str
    seconds: float = 0.0
    start: str = ''
    signature: str = 'toy'

    def load(self, device=None):
        if self.start == 'die':
            os._exit(1)
        if self.start == 'refuse':
            raise ModelError('The model is not there. Fetch it.')
        signature = self.signature
        if self.start == 'differ':
            signature += f' {os.getpid()}'
        return Loaded(signature, ToyWork(self.folder, self.seconds))

    def report_lost(self, item, problem):
        return f'{item} is lost: {problem}'


def workers(folder):
    """The ids of the processes that have loaded it."""
    return [int(path.suffix[1:]) for path in Path(folder).glob('worker.*')]
