"""
Evaluates in several processes, on a CPU, too, and counts every example once.

ParlAI's own ``multiprocessing_eval`` (1.7.2) asks for a GPU and the ``nccl`` backend,
and only its ``DialogTeacher`` and ``ChunkTeacher`` divide their episodes among the
processes, so that the counts of any other teacher are multiplied. Here, each process
evaluates its share of the episodes alone, and the reports are merged in the end.
"""

import multiprocessing
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import parlai.core.teachers as teachers
import parlai.scripts.eval_model as eval_model
import torch
from parlai.core.agents import create_agent
from parlai.core.metrics import aggregate_named_reports, aggregate_unnamed_reports
from parlai.core.opt import Opt
from parlai.utils.data import DatatypeHelper
from parlai.utils.distributed import override_print
from parlai.utils.misc import nice_report
from parlai.utils.typing import TShared

from parlai_q2.errors import ConfigError, Q2Error, WorkerError
from parlai_q2.parlai.task_strings import register
from parlai_q2.threads import cores

Report = dict[str, Any]
KILLED = (
    'A process of the evaluation was killed. It has often run out of memory: run it '
    'again with a smaller --distributed-world-size or --batchsize.'
)


def evaluate_in_processes(opt: Opt) -> Report:
    """
    Evaluate in ``--distributed-world-size`` processes; if one fails, the others end.

    :raises ConfigError: for a wrong number of processes, or training data.
    :raises WorkerError: if a process fails.
    """
    size = opt['distributed_world_size']
    if not size or size < 1:
        raise ConfigError(f'--distributed-world-size must be at least 1, not {size}.')
    if DatatypeHelper.is_training(opt['datatype']):
        raise ConfigError('To evaluate on training data, give -dt train:evalmode.')
    if opt['num_examples'] > 0:
        size = min(size, opt['num_examples'])
    reports = merge_reports(opt, _evaluate_shares(opt, size))
    print(nice_report(reports))
    eval_model._save_eval_stats(opt, reports)
    tensorboard, fold = eval_model.prepare_tb_logger(opt)
    if tensorboard:
        tensorboard.log_metrics(fold, eval_model.get_n_parleys(opt), reports)
        tensorboard.flush()
    return reports


def merge_reports(opt: Opt, shares: list[list[Report]]) -> Report:
    """Merge the reports of all processes, each with one report for each task."""
    tasks = opt['task'].split(',')
    merged = [aggregate_unnamed_reports(reports) for reports in zip(*shares)]
    report: Report = aggregate_named_reports(
        dict(zip(tasks, merged)), micro_average=opt.get('aggregate_micro', False)
    )
    return report


def _evaluate_shares(opt: Opt, size: int) -> list[list[Report]]:
    # A forked process can hang on locks that its parent's threads held.
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(size, mp_context=context) as pool:
        futures: list[Future[Any]] = [
            pool.submit(evaluate_share, opt, rank, size) for rank in range(size)
        ]
        try:
            finished, _ = wait(futures, return_when=FIRST_EXCEPTION)
            for future in finished:
                future.result()
            return [future.result() for future in futures]
        except BrokenProcessPool as e:
            raise WorkerError(KILLED) from e
        except BaseException:
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def evaluate_share(opt: Opt, rank: int, size: int) -> list[Report]:
    """Evaluate a share of each task, in a process that does nothing else."""
    register()
    share_episodes(rank, size)
    device: dict[str, Any] = {'no_cuda': True, 'gpu': -1}
    if torch.cuda.is_available():
        device = {'gpu': rank % torch.cuda.device_count()}
    else:
        torch.set_num_threads(max(1, cores() // size))
    # A model's saved options may name another device.
    opt = Opt({**opt, **device, 'override': {**(opt.get('override') or {}), **device}})
    if opt['num_examples'] > 0:
        opt['num_examples'] = len(range(rank, opt['num_examples'], size))
    try:
        with override_print(rank != 0):
            agent = create_agent(opt, requireModelExists=True)
            return [
                eval_model._eval_single_world(opt, agent, task)
                for task in opt['task'].split(',')
            ]
    except Q2Error as e:
        # Only the message is passed on, because some errors cannot be pickled.
        raise WorkerError(str(e)) from None


def share_episodes(rank: int, size: int) -> None:
    """Let the teachers of this process read only each ``size``-th episode."""
    # By these functions, ParlAI chooses a process's episodes and names its world logs.
    for module in (teachers, eval_model):
        module.is_distributed = lambda: True
        module.get_rank = lambda: rank
    teachers.num_workers = lambda: size
    init = teachers.FixedDialogTeacher.__init__

    def init_share(self: Any, opt: Opt, shared: TShared | None = None) -> None:
        init(self, opt, shared)
        # These teachers divide their episodes themselves.
        if isinstance(self, (teachers.DialogTeacher, teachers.ChunkTeacher)):
            return
        count_all, get = self.num_episodes, self.get
        self.num_episodes = lambda: len(range(rank, count_all(), size))
        self.get = lambda episode_idx, *args, **kwargs: get(
            episode_idx * size + rank, *args, **kwargs
        )

    teachers.FixedDialogTeacher.__init__ = init_share
