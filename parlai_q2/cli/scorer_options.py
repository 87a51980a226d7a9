"""
The options for scorers and their models and for choosing among candidates, and the
scorers and the reranker that they describe.

A scorer has a role (:mod:`~parlai_q2.scorers.roles`), which names its options:
``--choose``, ``--measure`` and ``--explain``, each with its ``-preset``; the first two
also have ``-threshold`` and ``-calibration``. Devices, batch sizes and the cache are
the same for all.
"""

from typing import TYPE_CHECKING, Any

from parlai_q2.errors import ConfigError
from parlai_q2.json_values import is_number
from parlai_q2.models.device import AUTO, CPU, choose_device
from parlai_q2.options import OptionGroup, OptionParser, Options
from parlai_q2.presets import Preset, as_preset, preset_names, with_detector
from parlai_q2.rerank.choice import (
    DEFAULT_GENERATOR_WEIGHT,
    DEFAULT_RERANK_BY,
    RerankBy,
    Rule,
)
from parlai_q2.rerank.guards import GUARDS
from parlai_q2.rerank.relevance import TurnReader
from parlai_q2.rerank.reranker import Reranker
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import (
    DEFAULT_PRESET,
    load_scorer,
    scorer_class,
    scorer_names,
)
from parlai_q2.scorers.roles import DEFAULTS, NONE, Role
from parlai_q2.threads import limit_cores

if TYPE_CHECKING:
    from parlai_q2.cache import ScoreCache

SHIPPED = ('mini', 'base')
# The presets whose models do not come with the package.
FETCHED = [name for name in preset_names() if name not in SHIPPED]
# What a role's scorer does, for help texts.
DOES = {
    Role.CHOOSE: 'chooses',
    Role.MEASURE: 'measures',
    Role.EXPLAIN: 'adds the evidence that people see, or none for the evidence of '
    '--choose',
}
DEFAULT_ABSTAIN_TEXT = "I'm not sure about that."


def add_preset_option(group: OptionGroup) -> None:
    group.add_argument(
        '--preset',
        default=DEFAULT_PRESET,
        help='the models: mini or base, which ship; a name to download on '
        f'first use ({", ".join(FETCHED)}); or a YAML file',
    )


def add_device_option(group: OptionGroup) -> None:
    group.add_argument(
        '--scorer-device',
        default=AUTO,
        help='the device of the scorers: cpu, cuda:0, or auto. auto uses a GPU if one '
        'works and ParlAI may use it, and otherwise the CPU',
    )
    group.add_argument(
        '--threads',
        type=int,
        help='the most CPU cores to use; default: all that the process may '
        'use, or $OMP_NUM_THREADS',
    )


def add_model_options(group: OptionGroup) -> None:
    add_preset_option(group)
    group.add_argument(
        '--detector',
        help='another detector for consistency, grounded and grounded_fast: a '
        'preset such as minicheck, a YAML file, or a folder or hub name '
        "of a sequence classifier; default: the preset's",
    )
    group.add_argument(
        '--scorer-batch-size',
        type=int,
        help="texts per call of a scorer's model; default: the preset's",
    )
    add_device_option(group)


def add_scorer_options(
    parser: OptionParser, *roles: Role, default: str | None = None
) -> Any:
    """
    Add the options for the scorers of some roles, of which the first may have another
    default, for models and for the cache to a parser; return it.
    """
    group = parser.add_argument_group('Scorers')
    for role in roles or (Role.MEASURE,):
        name = f'--{role.value}'
        group.add_argument(
            name,
            default=default or DEFAULTS[role],
            help=f'the scorer that {DOES[role]}: one of {", ".join(scorer_names())}, '
            'or module:Class',
        )
        group.add_argument(
            f'{name}-preset',
            help='the models of this scorer; default: those of --preset',
        )
        default = None
        if role == Role.EXPLAIN:
            continue
        group.add_argument(
            f'{name}-threshold',
            type=float,
            help='scores of at most this, in [0, 1], are inconsistent; default: the '
            "scorer's own threshold",
        )
        group.add_argument(
            f'{name}-calibration',
            help='the file that parlai_q2 calibrate wrote for this scorer',
        )
    add_model_options(group)
    return add_cache_options(parser)


def add_cache_options(parser: OptionParser) -> Any:
    group = parser.add_argument_group('Score cache')
    group.add_argument(
        '--cache',
        type='bool',
        help='keep scores on disk and reuse them; default: true for commands '
        'that score the same texts again (filter, distill, calibrate, meta_eval, '
        'mutators), and with --cache-file',
    )
    group.add_argument(
        '--cache-file',
        help='the .sqlite file of the cache, of at most 1 GiB; default: '
        '$PARLAI_Q2_CACHE, or parlai_q2/scores.sqlite in your cache '
        'folder',
    )
    return parser


def scorer_from_opt(
    opt: Options,
    role: Role = Role.MEASURE,
    cache: bool = False,
    default: str | None = None,
) -> Scorer:
    """
    Make the scorer of a role that an ``opt`` asks for; its models are loaded when it
    first scores. ``cache``: whether scores are kept on disk without ``--cache``.
    """
    key = role.value
    name = opt.get(key) or default or DEFAULTS[role]
    # Options are read before a scorer's class, and torch with it, is imported.
    preset = preset_from_opt(opt, role)
    options = model_options(opt, name, cache)
    for option in ('threshold', 'calibration'):
        if opt.get(f'{key}_{option}') is not None:
            options[option] = opt[f'{key}_{option}']
    return load_scorer(name, preset, **options)


def judge_from_opt(
    opt: Options, role: Role, default: str | None = None, cache: bool = True
) -> Scorer:
    """
    Make the scorer of a role that judges labels, with the score cache. It keeps its own
    threshold, and the filter applies the option's: another threshold then needs no new
    scores.
    """
    opt = {**opt, f'{role.value}_threshold': None}
    return scorer_from_opt(opt, role, cache=cache, default=default)


def preset_from_opt(opt: Options, role: Role) -> Preset:
    preset = opt.get(f'{role.value}_preset') or opt.get('preset') or DEFAULT_PRESET
    preset = as_preset(preset)
    if not isinstance(preset, Preset):
        raise ConfigError(f'A preset must be a name or a path, not {preset!r}.')
    return with_detector(preset, opt['detector']) if opt.get('detector') else preset


def model_options(opt: Options, scorer: str, cache: bool = False) -> dict[str, Any]:
    """
    Return the device, the batch size and perhaps the cache, as arguments of a scorer;
    none for scorers without models, which are faster than a disk. Cores are limited to
    ``--threads`` first. ``cache``: whether scores are kept on disk without ``--cache``.
    """
    limit_from_opt(opt)
    if not scorer_class(scorer).has_models:
        return {}
    options: dict[str, Any] = {'device': scorer_device(opt)}
    if opt.get('scorer_batch_size') is not None:
        options['batch_size'] = opt['scorer_batch_size']
    use_cache = opt.get('cache')
    if use_cache is None:
        use_cache = cache or opt.get('cache_file')
    if use_cache:
        options['cache'] = cache_from_opt(opt)
    return options


def limit_from_opt(opt: Options) -> None:
    """Limit the cores of this process to ``--threads``, if given."""
    count = opt.get('threads')
    if count is None:
        return
    if count < 1:
        raise ConfigError(f'--threads must be at least 1, not {count}.')
    limit_cores(count)


def cache_from_opt(opt: Options) -> 'ScoreCache':
    """Open the score cache that an ``opt`` names; a ConfigError for a wrong file."""
    from parlai_q2.cache import ScoreCache

    return ScoreCache(opt.get('cache_file'))


def scorer_device(opt: Options) -> str:
    """The requested device, else the one ParlAI runs on, if it works."""
    device = str(opt.get('scorer_device') or AUTO)
    if device != AUTO:
        return device
    if opt.get('no_cuda'):
        return CPU
    gpu = opt.get('gpu', -1)
    return choose_device(f'cuda:{gpu}' if gpu is not None and gpu >= 0 else 'cuda')


def check_ranges(opt: Options) -> None:
    """Check the ranges of options, which a program may also have set."""
    for option in ('abstain_below', 'candidates_until'):
        value = opt.get(option)
        if value is not None and not (is_number(value) and 0 <= value <= 1):
            raise ConfigError(
                f'--{option.replace("_", "-")} is {value!r}; it must be a number in '
                '[0, 1].'
            )


def add_choice_options(parser: OptionParser) -> None:
    """Add the options for choosing between candidates."""
    group = parser.add_argument_group('Reranking: choice')
    group.add_argument(
        '--rerank-by',
        choices=tuple(RerankBy),
        default=DEFAULT_RERANK_BY,
        help='combined: groundedness, relevance, right answer, agreement and '
        'likelihood; score_plus_generator: groundedness and likelihood; score: the '
        'highest score; threshold: the first candidate above the threshold. '
        'The likelihood counts only if a single search returned all candidates, '
        'with their probabilities',
    )
    group.add_argument(
        '--generator-weight',
        type=float,
        default=DEFAULT_GENERATOR_WEIGHT,
        help="weight of the generator's mean log probability of a token, for "
        'combined and score_plus_generator',
    )
    group.add_argument(
        '--abstain-below',
        type=float,
        help='return --abstain-text unless the chosen candidate was verified, answers '
        'the turn and scores at least this, in [0, 1]. Greetings, and replies that '
        'admit to having no answer, pass',
    )
    group.add_argument(
        '--abstain-unverified',
        type='bool',
        default=True,
        help='with --abstain-below: if there is no knowledge, or the reply '
        'could not be verified, return --abstain-text (true) or the best reply '
        "(false), which is the generator's first if none could be verified",
    )
    group.add_argument(
        '--abstain-text',
        default=DEFAULT_ABSTAIN_TEXT,
        help='the reply to return if no candidate is good enough',
    )
    group.add_argument(
        '--guards',
        type='bool',
        default=True,
        help='lower the scores of replies that are grounded but bad, though never '
        f'below the threshold: {"; ".join(guard.message for guard in GUARDS)}',
    )


def reranker_from_opt(opt: Options) -> Reranker:
    """
    Make the reranker that an ``opt`` describes; its models are loaded at first use.
    """
    check_ranges(opt)
    by = opt.get('rerank_by', DEFAULT_RERANK_BY)
    if by not in tuple(RerankBy):
        raise ConfigError(
            f'--rerank-by is {by!r}; it must be one of {", ".join(RerankBy)}.'
        )
    chooser = scorer_from_opt(opt, Role.CHOOSE)
    rule = Rule(
        by=by,
        generator_weight=opt.get('generator_weight', DEFAULT_GENERATOR_WEIGHT),
        abstain_below=opt.get('abstain_below'),
        abstain_unverified=bool(opt.get('abstain_unverified', True)),
    )
    guards = opt.get('guards')
    explainer = None
    if opt.get(Role.EXPLAIN.value) != NONE:
        explainer = scorer_from_opt(opt, Role.EXPLAIN)
    relevance = None
    if by == RerankBy.COMBINED:
        preset = preset_from_opt(opt, Role.CHOOSE)
        relevance = TurnReader.of(preset, device=scorer_device(opt))
    return Reranker(
        chooser, rule, guards is None or bool(guards), explainer, relevance=relevance
    )
