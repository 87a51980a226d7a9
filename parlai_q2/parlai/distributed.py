"""
Lets ParlAI evaluate in several processes on a CPU, and count every example once.

ParlAI 1.7.2 asks for the ``nccl`` backend and for a GPU in ``distributed_context``,
``all_gather_list``, ``fsdp_join`` and ``DistributedDataParallel``; and only its
``DialogTeacher`` divides its episodes among the processes, so that the counts of any
other teacher are multiplied. :func:`bridged` mends both in the processes of a run.
"""

import contextlib
import copy
import sys
from typing import Any, Iterator, Optional

import parlai.utils.distributed as distributed
import torch
import torch.distributed as dist
from parlai.core.opt import Opt
from parlai.core.teachers import ChunkTeacher, DialogTeacher, FixedDialogTeacher
from parlai.utils.data import DatatypeHelper

from parlai_q2.errors import ConfigError, Q2Error, WorkerError
from parlai_q2.parlai.task_strings import register
from parlai_q2.threads import cores

POLL_SECONDS = 0.1


def evaluate_in_processes(opt: Opt, port: int) -> Any:
    """
    Evaluate in ``--distributed-world-size`` processes, all of them spawned, so that if
    one fails, the others end at once.

    :param port: a free port of this machine.
    :return: the report over all processes.
    :raises ConfigError: when the number of processes is missing or below 1.
    :raises WorkerError: when a process ends early.
    """
    size = opt['distributed_world_size']
    if not size or size < 1:
        raise ConfigError(f'--distributed-world-size must be at least 1, not {size}.')
    answers = torch.multiprocessing.get_context('spawn').SimpleQueue()
    workers = torch.multiprocessing.start_processes(
        _work,
        (opt, port, answers),
        nprocs=size,
        join=False,
        daemon=True,
        start_method='spawn',
    )
    answer = None
    try:
        while True:
            try:
                ended = workers.join(timeout=POLL_SECONDS)
            finally:
                # Read while they run, since a large report does not fit into the pipe.
                if not answers.empty():
                    answer = answers.get()
                # The errors of the others, which have lost their peer, say less.
                if isinstance(answer, Q2Error):
                    raise answer
            if ended:
                return answer
    except torch.multiprocessing.ProcessExitedException as e:
        code = f'with exit code {e.exit_code}'
        how = f'by {e.signal_name}' if e.signal_name else code
        raise WorkerError(
            f'Process {e.error_index} of the evaluation ended {how}. A killed '
            'process has often run out of memory: run it again with a smaller '
            '--distributed-world-size or --batchsize.'
        ) from e
    finally:
        for process in workers.processes:
            process.terminate()


def _work(rank: int, opt: Opt, port: int, answers: Any) -> None:
    from parlai.scripts.multiprocessing_eval import multiprocess_eval

    register()
    try:
        with bridged(opt, rank) as own_opt:
            if not torch.cuda.is_available():
                share = max(1, cores() // opt['distributed_world_size'])
                torch.set_num_threads(share)
            answer = multiprocess_eval(rank, own_opt, port)
    except Q2Error as e:
        # Only the message is passed on, since not every error can be pickled.
        return answers.put(WorkerError(str(e)))
    if rank == 0:
        answers.put(answer)


@contextlib.contextmanager
def bridged(opt: Opt, rank: int) -> Iterator[Opt]:
    """
    Mend ParlAI's distributed evaluation in this process.

    :param rank: which of the run's processes this is.
    :return: the options for this process.
    """
    opt = copy.deepcopy(opt)
    if rank != 0:
        # ParlAI's check for that lacks the parentheses of a call, so all would write.
        opt['report_filename'] = ''
    with contextlib.ExitStack() as mended:
        mended.enter_context(_replaced(FixedDialogTeacher, '__init__', _share_out))
        if not torch.cuda.is_available():
            _without_gpu(mended)
        yield opt


def _without_gpu(mended: contextlib.ExitStack) -> None:
    """Let ParlAI's distributed functions work on a CPU, until the stack is closed."""
    import parlai.utils.fsdp as fsdp

    mended.enter_context(
        _replaced(distributed, 'distributed_context', lambda _: _context)
    )
    # Scripts have imported it by name.
    gather = distributed.all_gather_list
    for name, module in list(sys.modules.items()):
        if name.startswith('parlai') and vars(module).get('all_gather_list') is gather:
            mended.enter_context(
                _replaced(module, 'all_gather_list', lambda _: _gather)
            )
    device = property(lambda self: torch.device('cpu'))
    mended.enter_context(
        _replaced(fsdp.JoinableEvaluator, 'join_device', lambda _: device)
    )
    mended.enter_context(
        _replaced(torch.nn.parallel, 'DistributedDataParallel', _any_device)
    )


@contextlib.contextmanager
def _replaced(owner: Any, name: str, replace: Any) -> Iterator[None]:
    """Replace an attribute by ``replace(attribute)`` for a while."""
    before = getattr(owner, name)
    setattr(owner, name, replace(before))
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextlib.contextmanager
def _context(
    rank: int,
    opt: Opt,
    rank_offset: int = 0,
    gpu: Optional[int] = None,
    init_method: str = 'tcp://localhost:61337',
) -> Iterator[Opt]:
    """ParlAI's ``distributed_context`` for a CPU, with the backend ``gloo``."""
    opt = copy.deepcopy(opt)
    rank += rank_offset
    opt['rank'], opt['gpu'], opt['no_cuda'] = rank, -1, True
    opt['override'] = {**(opt.get('override') or {}), 'gpu': -1, 'no_cuda': True}
    loud = bool(opt.get('verbose'))
    prefix = f'rank:{rank:3d} |' if loud or rank != 0 else None
    with distributed.override_print(not loud and rank != 0, prefix):
        dist.init_process_group(
            backend='gloo',
            init_method=init_method,
            world_size=opt['distributed_world_size'],
            rank=rank,
        )
        try:
            torch.manual_seed(42)
            distributed.sync_object(None)
            yield opt
        finally:
            dist.destroy_process_group()


def _gather(data: Any) -> list[Any]:
    """ParlAI's ``all_gather_list``, for any device."""
    if not distributed.is_distributed():
        return [data]
    gathered: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(gathered, data)
    return gathered


def _any_device(parallel: type) -> type:
    class AnyDevice(parallel):
        """Ignores the GPU that ParlAI's agents pass."""

        def __init__(self, module: Any, device_ids: Any = None, **options: Any):
            super().__init__(module, **options)

    return AnyDevice


def _share_out(init: Any) -> Any:
    """A teacher's ``__init__`` that leaves it with only the episodes of its process."""

    def __init__(self: Any, opt: Opt, shared: Optional[dict] = None) -> None:
        init(self, opt, shared)
        training = DatatypeHelper.is_training(opt['datatype'])
        # These teachers divide their episodes themselves.
        divides = isinstance(self, (DialogTeacher, ChunkTeacher))
        if training or divides or not distributed.is_distributed():
            return
        rank, size = distributed.get_rank(), distributed.num_workers()
        all_episodes, get = self.num_episodes, self.get

        def num_episodes() -> int:
            return len(range(rank, all_episodes(), size))

        def get_own(episode_idx: int, *arguments: Any, **options: Any) -> Any:
            return get(episode_idx * size + rank, *arguments, **options)

        self.num_episodes, self.get = num_episodes, get_own

    return __init__
