"""The options for scoring with several processes or GPUs, and the engine they give."""

from functools import partial
from typing import Any, Mapping, Optional

from parlai_q2.cli.scorer_options import scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.io.chunks import CHUNK_RECORDS
from parlai_q2.scale.placement import places
from parlai_q2.scale.score_chunk import Engine, in_process
from parlai_q2.scorers.base import Scorer


def add_scale_options(parser: Any) -> Any:
    """Add ``--workers``, ``--devices`` and ``--chunk-size`` to a parser; return it."""
    group = parser.add_argument_group('Scoring at scale')
    group.add_argument(
        '--workers',
        type=int,
        help='number of processes that score, each with its own models; default: one '
        'per device of --devices, else this process alone',
    )
    group.add_argument(
        '--devices',
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
    return parser


def chunk_size_from_opt(opt: Mapping[str, Any]) -> int:
    """The number of records in a chunk; a ConfigError if it is below 1."""
    size = opt['chunk_size']
    if size < 1:
        raise ConfigError(f'--chunk-size must be at least 1, not {size}.')
    return size


def scale_from_opt(opt: Mapping[str, Any]) -> tuple[Scorer, Engine]:
    """
    The scorer that an ``opt`` asks for, for its name and signature, and the engine.

    :raises ConfigError: when workers and devices do not fit together.
    """
    make = partial(make_scorer, plain(opt))
    where = places(opt.get('workers'), opt.get('devices'))
    scorer = make(where[0].device)
    if len(where) == 1:
        return scorer, in_process(scorer)

    from parlai_q2.scale.workers import in_workers

    return scorer, in_workers(make, where, str(scorer.signature))


def make_scorer(opt: dict[str, Any], device: Optional[str]) -> Scorer:
    """A worker's scorer, on a device or that of ``opt``, as :func:`plain` gives it."""
    return scorer_from_opt({**opt, 'scorer_device': device} if device else opt)


def plain(opt: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are plain values, as a process without ParlAI can read them."""
    return {
        name: value
        for name, value in opt.items()
        if value is None or isinstance(value, (str, int, float, bool))
    }
