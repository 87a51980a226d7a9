"""
Scorers for worker processes: made by a function that a process can import, and able to
be slow, to fail, and to be killed.
"""

import json
import os
import signal
import time
from functools import partial
from pathlib import Path

from parlai_q2.errors import ModelError
from parlai_q2.scale.work import MOST_LEVELS
from parlai_q2.scorers.overlap import OverlapScorer

K = 'Sephora is a French chain of shops founded in 1969 in Limoges.'


class ToyScorer(OverlapScorer):
    """
    Overlap, a little later; each process notes that it has one.

    :param folder: where each process leaves a file of its name, with the responses of
        each call.
    :param seconds: that a call takes.
    """

    def __init__(self, folder, device=None, seconds=0.0):
        super().__init__()
        self.folder, self.device, self.seconds = Path(folder), device, seconds
        self.note('')
        threads = os.environ.get('OMP_NUM_THREADS')
        (self.folder / f'place.{os.getpid()}').write_text(f'{device} {threads}')

    def note(self, text):
        with open(self.folder / f'worker.{os.getpid()}', 'a') as stream:
            stream.write(text)

    def score(self, examples):
        self.note(json.dumps([e.response for e in examples]) + '\n')
        time.sleep(self.seconds)
        for example in examples:
            if 'die once' in example.response:
                self.die(once=True)
            if 'die always' in example.response:
                self.die(once=False)
            if 'raise' in example.response:
                raise ZeroDivisionError('of the scorer')
            if 'fill once' in example.response and not self.marked():
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
            if 'fill always' in example.response:
                raise MemoryError
            if 'refuse' in example.response:
                raise ModelError('The model is not there. Fetch it.')
            if 'slow' in example.response:
                time.sleep(1)
            if 'linger' in example.response:
                signal.signal(signal.SIGTERM, linger)
        return super().score(examples)

    def die(self, once):
        if not (once and self.marked()):
            os.kill(os.getpid(), signal.SIGKILL)

    def marked(self):
        mark = self.folder / 'died'
        before = mark.exists()
        mark.write_text('')
        return before


def linger(*_):
    """Ends the process a little after it was told to."""
    time.sleep(0.5)
    os._exit(0)


def toy(folder, seconds, device):
    return ToyScorer(folder, device, seconds)


def maker(folder, seconds=0.0):
    """What makes a worker's toy."""
    return partial(toy, str(folder), seconds)


def worker_ids(folder):
    """The processes that had a scorer."""
    return [int(path.suffix[1:]) for path in Path(folder).glob('worker.*')]


def alive(process):
    """Whether a process is running; one that has ended and was not asked is not."""
    try:
        return Path(f'/proc/{process}/stat').read_text().rsplit(')', 1)[1][1] != 'Z'
    except OSError:
        return False


def write_records(path, responses):
    """An input file of responses to one knowledge."""
    lines = [
        json.dumps({'id': n, 'knowledge': K, 'response': response})
        for n, response in enumerate(responses)
    ]
    path.write_text('\n'.join(lines) + '\n')
    return path


def write_nested(path):
    """
    An input file with a field of more and more levels: from what every engine takes to
    what Python's JSON does not read.
    """
    good = {'knowledge': K, 'response': 'in 1969'}
    with open(path, 'w') as stream:
        for levels in (1, MOST_LEVELS, MOST_LEVELS + 1, 600, 5000):
            tree = '[' * levels + ']' * levels
            stream.write(json.dumps(good)[:-1] + f', "tree": {tree}}}\n')
    return path
