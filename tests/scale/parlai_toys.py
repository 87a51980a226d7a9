"""A task and a model that spawned processes find by their dotted names."""

import os
import signal
import time
from pathlib import Path

import torch.distributed as dist

from parlai_q2.io.files import locked
from parlai_q2.tasks.grounded_sample import agents
from tests.tasks import recording
from tests.tasks.models import EchoAgent

RECORDING = recording.NAME


class AnnotatedTeacher(agents.AnnotatedTeacher):
    """The sample, in a module with which the recording scorer is registered."""


class FailingAgent(EchoAgent):
    """Fails in the second process."""

    def __init__(self, opt, shared=None):
        super().__init__(opt, shared)
        if dist.is_initialized() and dist.get_rank() == 1:
            self.fail()

    def fail(self):
        raise RuntimeError('The second process fails.')


class KilledAgent(FailingAgent):
    """Kills the second process."""

    def fail(self):
        os.kill(os.getpid(), signal.SIGKILL)


class OrphanedAgent(FailingAgent):
    """
    Kills what has started the second process, which would go on for long and holds a
    file meanwhile.
    """

    def fail(self):
        with locked(Path('held'), 0):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(300)
