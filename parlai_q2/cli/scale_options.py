"""
The options for scoring with several processes, GPUs or machines, and the engine that
they give.
"""

from functools import partial
from typing import Any, Mapping, Optional

from parlai_q2.cli.scorer_options import scorer_device, scorer_from_opt
from parlai_q2.errors import ConfigError, UnknownNameError
from parlai_q2.io.chunks import CHUNK_RECORDS
from parlai_q2.scale.placement import places
from parlai_q2.scale.score_chunk import Engine, in_process
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import scorer_class

LOCAL, RAY = 'local', 'ray'
ENGINES = (LOCAL, RAY)


def add_scale_options(parser: Any) -> Any:
    """
    Add ``--workers``, ``--devices``, ``--chunk-size``, ``--engine``
    and ``--ray-address``.

    :param parser: the parser, changed in place.
    :return: the same parser.
    """
    group = parser.add_argument_group('Scoring at scale')
    group.add_argument(
        '--workers',
        type=int,
        default=None,
        help='number of processes that score, each with its own models; default: one '
        'per device of --devices, else this process alone (with --engine ray: '
        'one per GPU or node)',
    )
    group.add_argument(
        '--devices',
        type=str,
        default=None,
        help='torch devices to spread the workers over: cuda:0,cuda:1 or all; '
        'default: --scorer-device for all of them',
    )
    group.add_argument(
        '--chunk-size',
        type=int,
        default=CHUNK_RECORDS,
        help='records per call of the scorer, which is also the most that a killed '
        'worker loses; larger chunks fill the batches of a GPU better',
    )
    group.add_argument(
        '--engine',
        choices=ENGINES,
        default=LOCAL,
        help='local: this machine; ray: Ray Data, which can use several machines',
    )
    group.add_argument(
        '--ray-address',
        type=str,
        default=None,
        help='address of the Ray cluster, host:port or auto; default: $RAY_ADDRESS, '
        'else a cluster on this machine that ends with the run',
    )
    return parser


def chunk_size_from_opt(opt: Mapping[str, Any]) -> int:
    """
    The number of records in a chunk.

    :raises ConfigError: when it is below 1.
    """
    size = opt.get('chunk_size')
    if size is None:
        return CHUNK_RECORDS
    if size < 1:
        raise ConfigError(f'--chunk-size must be at least 1, not {size}.')
    return size


def scale_from_opt(opt: Mapping[str, Any]) -> tuple[Scorer, Engine]:
    """
    The scorer that an ``opt`` asks for, and the engine that scores with it.

    :param opt: ParlAI options that :func:`add_scale_options` and ``add_scorer_options``
        declared.
    :return: a scorer whose models are not loaded, for its name and signature; and the
        engine.
    :raises UnknownNameError: when there is no such engine.
    :raises ConfigError: when workers and devices do not fit together.
    """
    engine = opt.get('engine') or LOCAL
    if engine not in ENGINES:
        raise UnknownNameError('engine', engine, ENGINES)
    make = partial(make_scorer, plain(opt))
    if engine == RAY:
        from parlai_q2.scale.ray_engine import ray_engine

        if opt.get('devices'):
            raise ConfigError(
                'With --engine ray the cluster gives each worker its GPU. Leave '
                '--devices out; --scorer-device cuda asks for one GPU a worker.'
            )
        on_gpu = scorer_device(opt).startswith('cuda')
        gpu = on_gpu and scorer_class(opt['scorer']).has_models
        if gpu:
            # Ray shows each worker only its own GPU.
            make = partial(make_scorer, {**plain(opt), 'scorer_device': 'cuda'})
        scorer = make(None)
        return scorer, ray_engine(
            make, str(scorer.signature), opt.get('workers'), gpu, opt.get('ray_address')
        )
    where = places(opt.get('workers'), opt.get('devices'))
    scorer = make(where[0].device)
    if len(where) == 1:
        return scorer, in_process(scorer)

    from parlai_q2.scale.pool import pool_engine

    return scorer, pool_engine(make, where, str(scorer.signature))


def make_scorer(opt: dict[str, Any], device: Optional[str]) -> Scorer:
    """
    Make a worker's scorer.

    :param opt: what :func:`plain` returned.
    :param device: the torch device, or None for the one in ``opt``.
    """
    return scorer_from_opt({**opt, 'scorer_device': device} if device else opt)


def plain(opt: Mapping[str, Any]) -> dict[str, Any]:
    """
    The options that are plain values, which can be sent to another process without
    ParlAI's classes.
    """
    return {
        name: value
        for name, value in opt.items()
        if value is None or isinstance(value, (str, int, float, bool))
    }
