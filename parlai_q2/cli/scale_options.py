"""The options of the engine: this process, or many processes on a Ray cluster."""

from collections.abc import Mapping
from typing import Any

from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError
from parlai_q2.io.formats import Format
from parlai_q2.runs.job import Engine, Job, LocalEngine

RAY_OPTIONS = ('ray_address', 'ray_actors', 'ray_cpus', 'ray_gpus')


class EngineName(Word):
    """Where work is done: in this process, or in actors on a Ray cluster."""

    LOCAL = 'local'
    RAY = 'ray'


def add_engine_options(parser: Any) -> Any:
    """Add ``--engine`` and its ``--ray-…`` options; return their group."""
    group = parser.add_argument_group('Scoring at scale')
    group.add_argument(
        '--engine',
        choices=tuple(EngineName),
        default=str(EngineName.LOCAL),
        help='local: this process, with all cores; ray: actors on a Ray '
        'cluster (needs the extra parlai_q2[ray])',
    )
    group.add_argument(
        '--ray-address',
        help='the cluster, as host:port or auto; default: start Ray on this '
        'machine for this run',
    )
    group.add_argument(
        '--ray-actors',
        type=int,
        help='number of actors, each with a loaded scorer; default: as many as '
        'the cluster can hold at the start',
    )
    group.add_argument(
        '--ray-cpus',
        type=float,
        default=1.0,
        help='CPUs of an actor, and its number of threads',
    )
    group.add_argument(
        '--ray-gpus', type=float, default=0.0, help='GPUs of an actor, such as 1 or 0.5'
    )
    return group


def add_scale_options(parser: Any, chunk_size: int) -> Any:
    """Add the engine's options and ``--chunk-size``; return the parser."""
    group = add_engine_options(parser)
    group.add_argument(
        '--chunk-size',
        type=int,
        default=chunk_size,
        help='records per call of the scorer, fewer if they are long; a killed '
        'run or actor loses at most one call. Larger chunks use a GPU '
        'better',
    )
    return parser


def add_out_format(group: Any) -> None:
    """Add ``--out-format``."""
    group.add_argument(
        '--out-format',
        choices=(str(Format.JSONL), str(Format.PARQUET)),
        help='the format of the files in a folder, jsonl by default; a single '
        'file has the format of its ending, such as scores.parquet',
    )


def check_scale(opt: Mapping[str, Any]) -> int:
    """
    The number of records in a chunk.

    :raises ConfigError: if it is below 1, or an option of Ray's is given without
        ``--engine ray``.
    """
    if opt.get('engine', EngineName.LOCAL) != EngineName.RAY:
        defaults = {'ray_cpus': 1.0, 'ray_gpus': 0.0}
        for name in RAY_OPTIONS:
            if opt.get(name) not in (None, defaults.get(name)):
                raise ConfigError(
                    f'--{name.replace("_", "-")} has no effect without --engine ray.'
                )
    elif opt.get('cache') or opt.get('cache_file'):
        raise ConfigError(
            'With --engine ray there is no score cache: its file is for the processes '
            'of one machine. Leave --cache and --cache-file out.'
        )
    size = opt['chunk_size']
    if size < 1:
        raise ConfigError(f'--chunk-size must be at least 1, not {size}.')
    return int(size)


def engine_from_opt(opt: Mapping[str, Any], job: Job) -> Engine:
    """
    The engine that an ``opt`` asks for, with a job.

    :raises MissingPackageError: for Ray, if it is not installed.
    """
    if opt.get('engine', EngineName.LOCAL) == EngineName.LOCAL:
        return LocalEngine(job)

    from parlai_q2.scale.ray_engine import RayEngine, Resources

    return RayEngine(
        job,
        Resources(
            address=opt.get('ray_address'),
            actors=opt.get('ray_actors'),
            cpus=opt.get('ray_cpus', 1.0),
            gpus=opt.get('ray_gpus', 0.0),
        ),
    )


def with_device(opt: Mapping[str, Any], device: str | None) -> dict[str, Any]:
    """
    The options that are plain values, as a process without ParlAI can read them, with
    the device of that process.
    """
    plain = {
        name: value
        for name, value in opt.items()
        if value is None or isinstance(value, (str, int, float, bool))
    }
    return {**plain, 'scorer_device': device} if device else plain
