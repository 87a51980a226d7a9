"""
Scores chunks on Ray Data, on one machine or several.

One task reads the input, on the machine where the run was started, and streams its
chunks. Actors, each with its own models, score them. The run writes the results in
order. If an actor dies, Ray restarts it and sends its chunk again. If chunks are lost
with a machine, Ray reads the file again and gets the same chunks.

Some of Ray's defaults do not suit a library and are switched off: there are no usage
statistics and no dashboard, and the working folder is not on the workers' import path.
So a worker runs the parlai_q2 that is installed on its machine, and refuses to score if
its signature differs.
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

# How many times a chunk is retried after its actor has died.
RETRIES = 2
# Shared memory for chunks in transit, in bytes, of a cluster that is started for a run.
OBJECT_STORE = 256 * 1024**2
USER = '--engine ray'
# Environment variables that Ray reads when it is imported or started.
QUIET = {
    'RAY_USAGE_STATS_ENABLED': '0',
    'RAY_ENABLE_UV_RUN_RUNTIME_ENV': '0',
    'RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO': '0',
}


class Share(NamedTuple):
    """The number of actors, and the CPUs and GPUs that each of them takes."""

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

    :param make: creates an actor's scorer; must be picklable by name, from a module
        that is installed on all machines.
    :param signature: the signature that each actor's scorer must have.
    :param workers: the number of actors; None for one per GPU or, without ``gpu``, one
        per machine.
    :param gpu: whether each actor takes a GPU.
    :param address: the address of a cluster. None for ``$RAY_ADDRESS`` or, if that is
        not set, a local cluster for this run.
    :return: the engine.
    :raises MissingPackageError: if Ray Data is not installed.
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
    How much each actor may take so that all of them fit.

    :param nodes: the resources of each machine, as Ray reports them.
    :param workers: as for :func:`ray_engine`, like ``gpu``.
    :raises ConfigError: if they cannot fit.
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
    # Actors are spread evenly; the machine with the fewest cores limits each share.
    on_each = -(-workers // len(able))
    if gpu:
        on_each = max(int(node['GPU']) for node in able)
    cpus = min(int(node.get('CPU', 1)) for node in able) // on_each
    return Share(workers, max(1, cpus), int(gpu))


@contextmanager
def _cluster(address: Optional[str]) -> Iterator[None]:
    """Connect to Ray. A connection that exists already is used, and is left open."""
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
                # Ray has no exception type for a cluster that does not start in time.
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
    # Ray puts the script's folder and the current one first on its workers' import
    # path, where a file random.py would replace Python's own module.
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
    Ray Data's settings for this run: ordered results, one chunk per block, no output.
    """
    from ray.data import DataContext

    logger = logging.getLogger('ray.data')
    level, context = logger.level, DataContext.get_current()
    before = (
        context.execution_options.preserve_order,
        context.target_max_block_size,
        context.enable_progress_bars,
    )
    # Errors are raised, so Ray need not log them as well.
    logger.setLevel(logging.CRITICAL)
    context.execution_options.preserve_order = True
    # Every chunk is larger than one byte, so each becomes a block of its own and is
    # passed on as soon as it is read.
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
    """Options that make the reading task run on this machine, which has the file."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    node = ray.get_runtime_context().get_node_id()
    if 'label_selector' in inspect.signature(read_datasource).parameters:
        return {'label_selector': {'ray.io/node-id': node}}
    strategy = NodeAffinitySchedulingStrategy(node, soft=False)
    return {'ray_remote_args': {'scheduling_strategy': strategy}}
