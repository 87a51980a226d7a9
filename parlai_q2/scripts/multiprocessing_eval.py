"""
``parlai_q2 multiprocessing_eval``: ParlAI's command, which here also runs on a CPU,
counts every example once, and takes the short names.
"""

from typing import Any

import torch
from parlai.core.params import ParlaiParser
from parlai.core.script import ParlaiScript, register_script
from parlai.scripts import multiprocessing_eval

# The default number of processes if there are no GPUs to count.
PROCESSES = 2


@register_script('multiprocessing_eval', aliases=['mp_eval'])
class MultiprocessingEvalScript(ParlaiScript):
    """Evaluate a model in several processes."""

    @classmethod
    def setup_args(cls) -> ParlaiParser:
        parser = multiprocessing_eval.setup_args()
        parser.set_defaults(
            distributed_world_size=torch.cuda.device_count() or PROCESSES
        )
        return parser

    def run(self) -> Any:
        # Imported late: it imports ParlAI's scripts, which would register here.
        from parlai_q2.parlai.distributed import evaluate_in_processes

        return evaluate_in_processes(self.opt)
