"""The options for where work is done: in this process, or in many on a Ray cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from parlai_q2.cli.scorer_options import judge_from_opt
from parlai_q2.enums import Word
from parlai_q2.errors import ConfigError
from parlai_q2.io.formats import Format
from parlai_q2.runs.job import Engine, Job, LocalEngine
from parlai_q2.runs.label_scores import LabelJob
from parlai_q2.scorers.base import DEFAULT_THRESHOLD, Scorer
from parlai_q2.scorers.roles import Role
from parlai_q2.signature import Signature

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
        help='local: this process, with all cores; ray: actors on a Ray cluster, '
        'which needs the extra parlai_q2[ray]',
    )
    group.add_argument(
        '--ray-address',
        help='the cluster, as host:port or auto; default: Ray is started on this '
        'machine, for this run',
    )
    group.add_argument(
        '--ray-actors',
        type=int,
        help='number of actors, each of which holds a loaded scorer; default: as many '
        'as the cluster can hold when the run begins',
    )
    group.add_argument(
        '--ray-cpus',
        type=float,
        default=1.0,
        help='CPUs of an actor, which is also its number of threads',
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
        help='records per call of the scorer, fewer if they are long; a killed run or '
        'actor loses at most one call. More fill the batches of a GPU better',
    )
    return parser


def add_out_format(group: Any) -> None:
    """Add ``--out-format``."""
    group.add_argument(
        '--out-format',
        choices=(str(Format.JSONL), str(Format.PARQUET)),
        help='the format of the files in a folder, by default jsonl; a single file '
        'says its own by its name, such as scores.parquet',
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
    return size


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


@dataclass(frozen=True)
class FixedScorer:
    """Gives the scorer that it was made with, to a job of this process."""

    scorer: Scorer

    def __call__(self, device: str | None) -> Scorer:
        return self.scorer


class LabelEngine(NamedTuple):
    """
    An engine for a :class:`~parlai_q2.runs.label_scores.LabelJob`.

    :param scorer: that of this process; None if others do the work.
    """

    engine: Engine
    scorer: Scorer | None = None

    @property
    def threshold(self) -> float:
        """The scorer's, by its signature."""
        settings = Signature.from_text(self.engine.signature).settings
        threshold = settings.get('threshold')
        return DEFAULT_THRESHOLD if threshold is None else float(threshold)


def label_engine_from_opt(
    opt: Mapping[str, Any], role: Role, default: str
) -> LabelEngine:
    """
    The engine that an ``opt`` asks for, with the scorer of a role; in this process with
    the score cache.

    :param default: the scorer, if the ``opt`` names none.
    """
    if opt.get('engine', EngineName.LOCAL) == EngineName.LOCAL:
        scorer = judge_from_opt(opt, role, default)
        return LabelEngine(LocalEngine(LabelJob(FixedScorer(scorer))), scorer)
    make_scorer = partial(make_judge, with_device(opt, None), role, default)
    return LabelEngine(engine_from_opt(opt, LabelJob(make_scorer)))


def make_judge(
    opt: Mapping[str, Any], role: Role, default: str, device: str | None
) -> Scorer:
    """A process's scorer, on its device or that of ``opt``, without the cache."""
    return judge_from_opt(with_device(opt, device), role, default, cache=False)
