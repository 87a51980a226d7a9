"""
``parlai_q2 distributed_eval``: ParlAI's evaluation under SLURM, which here also runs
without GPUs and takes the short names. Start it with ``srun``, once for each process.
"""

import os
from typing import Any

from parlai.core.opt import Opt
from parlai.core.script import register_script
from parlai.scripts.distributed_eval import DistributedEval, setup_args


@register_script('distributed_eval')
class DistributedEvalScript(DistributedEval):
    """Evaluate a model in the processes of a SLURM job."""

    @classmethod
    def setup_args(cls):
        parser = setup_args()
        tasks = os.environ.get('SLURM_NTASKS')
        parser.set_defaults(distributed_world_size=int(tasks) if tasks else None)
        return parser

    def run(self) -> Any:
        from parlai_q2.parlai.distributed import bridged

        with bridged(self.opt, int(os.environ.get('SLURM_PROCID', 0))) as opt:
            self.opt: Opt = opt
            return super().run()
