"""The options that choose a scorer, and the scorer that they give."""

from typing import Any, Mapping

from parlai_q2.cache import DEFAULT_MAX_BYTES, CachedScorer, ScoreCache
from parlai_q2.models.device import gpus
from parlai_q2.presets import load_preset, with_detector
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.in_context import InContextScorer
from parlai_q2.scorers.registry import (
    DEFAULT_PRESET,
    load_scorer,
    scorer_class,
    scorer_names,
)

MEGABYTE = 1024**2


def add_preset_option(group: Any) -> None:
    """Add ``--preset``, which names the models."""
    group.add_argument(
        '--preset',
        default=DEFAULT_PRESET,
        help='the models: mini (shipped, offline), paper (fetched on first use), or a '
        'path to a YAML file',
    )


def add_device_option(group: Any) -> None:
    """Add ``--scorer-device``."""
    group.add_argument(
        '--scorer-device',
        help='device of the scorer; default: cuda:GPU when ParlAI uses a GPU, else cpu',
    )


def add_model_options(group: Any) -> None:
    """Add the options for a scorer's models."""
    add_preset_option(group)
    group.add_argument(
        '--detector',
        help='another detector for consistency, grounded and grounded_fast: a preset '
        'such as minicheck or its YAML file, or a folder or hub name of a sequence '
        "classifier; default: the preset's",
    )
    group.add_argument(
        '--scorer-batch-size',
        type=int,
        help="batch size: texts per call of a scorer's model; default: the preset's",
    )
    add_device_option(group)


def add_context_option(group: Any) -> None:
    """Add ``--in-context``, for commands whose examples have a history."""
    group.add_argument(
        '--in-context',
        nargs='?',
        type='bool',
        const=True,
        default=False,
        help='read a third-person pronoun as the title of the knowledge or the only '
        'subject of the turn before, and an answer without a verb with its question',
    )


def add_scorer_options(parser: Any, scorer: str = 'q2') -> Any:
    """Add the options for a scorer and its cache to a parser; return it."""
    group = parser.add_argument_group('Groundedness scorer')
    group.add_argument(
        '--scorer',
        default=scorer,
        help='the scorer, which compares a response with its knowledge, one of '
        f'{", ".join(scorer_names())}; q2_f1 is q2 without NLI, consistency the '
        'detector, spans the same with marked words, grounded a calibrated '
        'combination, grounded_fast the same without q2',
    )
    group.add_argument(
        '--scorer-threshold',
        type=float,
        help='a response is inconsistent if its score is at most this, in [0, 1]; '
        "default: the scorer's own threshold",
    )
    group.add_argument(
        '--calibration',
        help='a file that parlai_q2 calibrate wrote: the prior and the threshold '
        'fitted to labelled pairs of your own',
    )
    add_model_options(group)
    return add_cache_options(parser)


def add_cache_options(parser: Any) -> Any:
    """Add ``--cache``, ``--cache-file`` and ``--cache-megabytes``."""
    group = parser.add_argument_group('Score cache')
    group.add_argument(
        '--cache',
        type='bool',
        help='keep scores on disk and reuse them; default: yes where the same texts '
        'are scored again (filter, mutators, meta_eval) or if --cache-file is '
        'given, no in chat and in evaluation',
    )
    group.add_argument(
        '--cache-file',
        help='the .sqlite file to keep scores in; default: $PARLAI_Q2_CACHE, else '
        'parlai_q2/scores.sqlite in your cache folder',
    )
    group.add_argument(
        '--cache-megabytes',
        type=int,
        default=DEFAULT_MAX_BYTES // MEGABYTE,
        help='maximum size of the cache, in MiB; the least recently used scores are '
        'removed first',
    )
    return parser


def scorer_from_opt(opt: Mapping[str, Any], cache: bool = False) -> Scorer:
    """
    The scorer that an ``opt`` asks for.

    :param cache: whether scores are kept on disk by default, without ``--cache``.
    :return: the scorer; its models are loaded when it first scores.
    """
    name, preset = opt.get('scorer', 'q2'), opt.get('preset', DEFAULT_PRESET)
    # Read before a scorer's class is imported, and torch with it.
    preset = load_preset(preset) if isinstance(preset, str) else preset
    if opt.get('detector'):
        preset = with_detector(preset, opt['detector'])
    options = model_options(opt, name)
    if opt.get('scorer_threshold') is not None:
        options['threshold'] = opt['scorer_threshold']
    if opt.get('calibration'):
        options['calibration'] = opt['calibration']
    scorer = load_scorer(name, preset, **options)
    scorer = with_cache(opt, scorer, cache)
    if opt.get('in_context'):
        # Outside of the cache, which knows no history.
        return InContextScorer(scorer)
    return scorer


def model_options(opt: Mapping[str, Any], scorer: str) -> dict[str, Any]:
    """The device and batch size, as arguments of a scorer; none without models."""
    if not scorer_class(scorer).has_models:
        return {}
    options = {'device': scorer_device(opt)}
    if opt.get('scorer_batch_size') is not None:
        options['batch_size'] = opt['scorer_batch_size']
    return options


def with_cache(opt: Mapping[str, Any], scorer: Scorer, default: bool) -> Scorer:
    """
    Add the score cache to a scorer, if an ``opt`` asks for it by ``--cache`` or by
    naming its file, or by default. Scorers without models are faster than a disk, and
    are never cached.
    """
    wanted = opt.get('cache')
    if wanted is None:
        wanted = default or opt.get('cache_file')
    if not scorer.has_models or not wanted:
        return scorer
    return CachedScorer(scorer, cache_from_opt(opt))


def cache_from_opt(opt: Mapping[str, Any]) -> ScoreCache:
    """The score cache that an ``opt`` names; a ConfigError for a wrong file or size."""
    megabytes = opt.get('cache_megabytes')
    max_bytes = DEFAULT_MAX_BYTES if megabytes is None else megabytes * MEGABYTE
    return ScoreCache(opt.get('cache_file'), max_bytes)


def scorer_device(opt: Mapping[str, Any]) -> str:
    """The device asked for, else the one ParlAI runs on."""
    if opt.get('scorer_device'):
        return opt['scorer_device']
    if opt.get('no_cuda') or not gpus():
        return 'cpu'
    gpu = opt.get('gpu', -1)
    return f'cuda:{gpu}' if gpu is not None and gpu >= 0 else 'cuda'
