"""A scorer that can be slow and fatal, and input files for it."""

import json
import os
import signal
import time
from functools import partial
from pathlib import Path

from parlai_q2.errors import ModelError
from parlai_q2.io.read import Record
from parlai_q2.runs.file_run import cut_chunks
from parlai_q2.scorers.overlap import OverlapScorer
from parlai_q2.turns import Example
from tests.files import write_lines

K = 'Sephora is a French chain of shops founded in 1969 in Limoges.'


class TwoPartError(Exception):
    """An error that cannot be unpickled, like many with arguments of their own."""

    def __init__(self, first, second):
        super().__init__(f'{first} and {second}')


class ToyScorer(OverlapScorer):
    """
    Overlap, a little later; responses may say what happens to their process.

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
        for example in examples:
            self.obey(example.response)
        return super().score(examples)

    def obey(self, response):
        if 'once' in response:
            mark = self.folder / f'mark {response}'
            if mark.exists():
                return
            mark.write_text('')
        if 'die' in response:
            os.kill(os.getpid(), signal.SIGKILL)
        if 'fill' in response:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        if 'raise' in response:
            raise ZeroDivisionError('of the job')
        if 'break' in response:
            raise TwoPartError('one part', 'another')
        if 'slow' in response:
            time.sleep(1)


def toy(folder, seconds, start, device):
    threads = os.environ.get('OMP_NUM_THREADS', '')
    Path(folder, f'threads.{os.getpid()}').write_text(threads)
    if start == 'die':
        os._exit(1)
    if start == 'refuse':
        raise ModelError('The model is not there. Fetch it.')
    scorer = ToyScorer(folder, seconds)
    if start == 'differ':
        scorer.name = f'toy{os.getpid()}'
    return scorer


def maker(folder, seconds=0.0, start=''):
    """
    What makes a process's toy.

    :param start: what happens then: '', 'die', 'refuse' or 'differ'.
    """
    return partial(toy, str(folder), seconds, start)


def chunks(responses, size=4):
    """Records of responses to one knowledge, in numbered chunks."""
    records = (
        Record(n, {'response': text}, Example(K, text), source='toys')
        for n, text in enumerate(responses, 1)
    )
    return enumerate(cut_chunks(records, size))


def write_records(path, responses):
    """An input file of responses to one knowledge."""
    records = (
        {'id': n, 'knowledge': K, 'response': response}
        for n, response in enumerate(responses)
    )
    return write_lines(path, *records)
