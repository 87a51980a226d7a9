"""A scorer that can be slow and fatal, and input files for it."""

import json
import os
import signal
import time
from functools import partial
from pathlib import Path

from parlai_q2.scorers.overlap import OverlapScorer

K = 'Sephora is a French chain of shops founded in 1969 in Limoges.'


class ToyScorer(OverlapScorer):
    """
    Overlap, a little later; each process notes what it scored, and dies of some.

    :param folder: where each process leaves a file of its name, with the responses of
        each call.
    :param seconds: that a call takes.
    """

    def __init__(self, folder, seconds=0.0):
        super().__init__()
        self.folder, self.seconds = Path(folder), seconds
        self.note('')

    def note(self, text):
        with open(self.folder / f'worker.{os.getpid()}', 'a') as stream:
            stream.write(text)

    def score(self, examples):
        self.note(json.dumps([e.response for e in examples]) + '\n')
        time.sleep(self.seconds)
        if any('die always' in example.response for example in examples):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().score(examples)


def toy(folder, seconds, device):
    return ToyScorer(folder, seconds)


def maker(folder, seconds=0.0):
    """What makes a process's toy."""
    return partial(toy, str(folder), seconds)


def write_records(path, responses):
    """An input file of responses to one knowledge."""
    lines = [
        json.dumps({'id': n, 'knowledge': K, 'response': response})
        for n, response in enumerate(responses)
    ]
    path.write_text('\n'.join(lines) + '\n')
    return path
