"""
Scores chunks on Ray Data, on one machine or several.

One task reads the input on the machine where the run was started and streams its
chunks; actors, each with models of its own, score them; the run writes what comes back,
in order. Ray starts an actor that has died again and gives it its chunk again, and
reads the file again where chunks were lost with a machine: it holds the same.

Ray's own habits that do not suit a library are put off: no usage statistics, no
dashboard, and the working folder is not put on the workers' import path. So a worker
runs the parlai_q2 that is installed on its machine, and refuses to score where its
signature is another.
"""

import inspect
import logging
import os
import pickle
import sys
import tempfile
from contextlib import contextmanager
from typing import Any, Generator, Iterator, NamedTuple, Optional

from parlai_q2.errors import ConfigError, WorkerError
from parlai_q2.optional import import_package
from parlai_q2.scale.placement import usable_cores
from parlai_q2.scale.score_chunk import Engine, MakeScorer, ScoredChunk
from parlai_q2.scale.work import Work
from parlai_q2.scale.worker import FAILED

# Times that a chunk is given to another actor after its own has died.
RETRIES = 2
# Shared memory of a cluster that ends with the run, in bytes: chunks on their way.
OBJECT_STORE = 256 * 1024**2
USER = '--engine ray'
# Read by Ray when it is imported or started.
QUIET = {
    'RAY_USAGE_STATS_ENABLED': '0',
    'RAY_ENABLE_UV_RUN_RUNTIME_ENV': '0',
    'RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO': '0',
}


class Share(NamedTuple):
    """
    How many actors there are, and what each takes of its machine.
    """

    workers: int
    cpus: int
    gpus: int


def ray_engine(
    make: MakeScorer,
    signature: str,
    workers: Optional[int] = None,
    gpu: bool = False,
    address: Optional[str] = None,
) -> Engine:
    """
    The engine that scores on Ray.

    :param make: makes an actor's scorer; picklable by name, from a module that is
        installed on all machines.
    :param signature: what the scorers must say of themselves.
    :param workers: actors; None for one a GPU or, without, one a machine.
    :param gpu: whether each actor takes a GPU.
    :param address: a cluster's; None for ``$RAY_ADDRESS``, else one of its own.
    :return: the engine.
    :raises MissingPackageError: where Ray Data is not installed.
    """
    for module in ('ray', 'pyarrow'):
        import_package(module, 'ray[data]', 'ray', USER)

    def engine(work: Work) -> Generator[ScoredChunk, None, None]:
        with _cluster(address):
            share = _share(workers, gpu)
            with _settings():
                yield from _scored(work, make, signature, share)

    return engine


def share_of(nodes: list[dict[str, float]], workers: Optional[int], gpu: bool) -> Share:
    """
    What each actor takes, so that all of them fit.

    :param nodes: CPUs and GPUs of each machine, as Ray names them.
    :param workers: as for :func:`ray_engine`, like ``gpu``.
    :raises ConfigError: when they cannot fit.
    """
    kind = 'GPU' if gpu else 'CPU'
    able = [node for node in nodes if node.get(kind, 0) >= 1]
    most = sum(int(node[kind]) for node in able)
    if workers is None:
        workers = most if gpu else len(able)
    if not 1 <= workers <= most:
        raise ConfigError(
            f'The Ray cluster has {most} {kind}s for workers, but {workers} were '
            'asked for. Choose another number of --workers.'
        )
    # Spread evenly; a machine with few cores bounds what each may take.
    on_each = -(-workers // len(able))
    if gpu:
        on_each = max(int(node['GPU']) for node in able)
    cpus = min(int(node.get('CPU', 1)) for node in able) // on_each
    return Share(workers, max(1, cpus), int(gpu))


@contextmanager
def _cluster(address: Optional[str]) -> Iterator[None]:
    """
    A connection to Ray; one that was there before is used and stays.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    import ray

    if ray.is_initialized():
        yield
        return
    options: dict[str, Any] = {'address': address or os.environ.get('RAY_ADDRESS')}
    if not options['address']:
        options = {
            'address': 'local',
            'num_cpus': usable_cores(),
            'include_dashboard': False,
            'object_store_memory': OBJECT_STORE,
        }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        with _nothing_to_import(empty):
            try:
                ray.init(
                    log_to_driver=False,
                    logging_level=logging.WARNING,
                    **options,
                )
            except Exception as e:
                # Ray has no type of its own for a cluster that does not start in time.
                ray.shutdown()
                raise WorkerError(
                    f'Ray did not start, or did not answer: {_last_line(e)}. '
                    'Check --ray-address, run it again when the machine is less '
                    'busy, or use --engine local.'
                ) from e
        try:
            yield
        finally:
            ray.shutdown()


@contextmanager
def _nothing_to_import(empty: str) -> Iterator[None]:
    # Ray puts the script's folder and the current one before everything else that its
    # workers import from: a file random.py there would be taken for Python's.
    folder, script = os.getcwd(), sys.argv[0]
    os.chdir(empty)
    sys.argv[0] = ''
    try:
        yield
    finally:
        sys.argv[0] = script
        os.chdir(folder)


def _share(workers: Optional[int], gpu: bool) -> Share:
    import ray

    nodes = [node['Resources'] for node in ray.nodes() if node['Alive']]
    return share_of(nodes, workers, gpu)


@contextmanager
def _settings() -> Iterator[None]:
    """
    Ray Data's settings for this run: results in order, blocks of one chunk, no noise.
    """
    from ray.data import DataContext

    logger = logging.getLogger('ray.data')
    level, context = logger.level, DataContext.get_current()
    before = (
        context.execution_options.preserve_order,
        context.target_max_block_size,
        context.enable_progress_bars,
    )
    # What goes wrong is raised; Ray's log says it as well.
    logger.setLevel(logging.CRITICAL)
    context.execution_options.preserve_order = True
    # Any chunk is larger than a byte, so each is a block of its own and goes its way
    # once it is there.
    context.target_max_block_size = 1
    context.enable_progress_bars = False
    try:
        yield
    finally:
        logger.setLevel(level)
        context.execution_options.preserve_order = before[0]
        context.target_max_block_size = before[1]
        context.enable_progress_bars = before[2]


def _scored(
    work: Work, make: MakeScorer, signature: str, share: Share
) -> Iterator[ScoredChunk]:
    from ray.data import ActorPoolStrategy, read_datasource
    from ray.exceptions import RayError

    from parlai_q2.scale.ray_tasks import ChunkSource, ScoreActor

    results = read_datasource(
        ChunkSource(work.source, work.first),
        override_num_blocks=1,
        num_cpus=0,
        **_here(read_datasource),
    ).map_batches(
        ScoreActor,
        fn_constructor_args=(make, signature, share.cpus, os.getcwd()),
        batch_size=1,
        batch_format='pyarrow',
        compute=ActorPoolStrategy(size=share.workers),
        num_cpus=share.cpus,
        num_gpus=share.gpus,
        max_restarts=-1,
        max_task_retries=RETRIES,
    )
    expected = work.first
    try:
        for batch in results.iter_batches(batch_size=None, batch_format='pyarrow'):
            for answer in batch['answer']:
                kind, value = pickle.loads(answer.as_py())
                if kind == FAILED:
                    raise WorkerError(value[0])
                if value.number != expected:
                    raise WorkerError(
                        f'Ray returned chunk {value.number} where {expected} was '
                        'expected. Earlier scores are kept: run the same command '
                        'again to continue.'
                    )
                expected += 1
                yield value
    except RayError as e:
        raise WorkerError(
            f'Ray could not go on: {_last_line(e)}. A killed worker has often run '
            'out of memory: use fewer --workers or a smaller --chunk-size. '
            'Earlier scores are kept: run the same command again to continue.'
        ) from e


def _last_line(error: Exception) -> str:
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[-1].strip().rstrip('.')


def _here(read_datasource: Any) -> dict[str, Any]:
    """
    Options that let the reading task run on this machine, where the file is.
    """
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.get_runtime_context().get_node_id()
    if 'label_selector' in inspect.signature(read_datasource).parameters:
        return {'label_selector': {'ray.io/node-id': node}}
    strategy = NodeAffinitySchedulingStrategy(node, soft=False)
    return {'ray_remote_args': {'scheduling_strategy': strategy}}
