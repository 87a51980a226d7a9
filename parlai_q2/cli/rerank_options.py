"""The options for choosing among candidates, and the reranker that they describe."""

from math import inf
from typing import Any, Mapping, Optional

from parlai_q2.cli.scorer_options import add_context_option, scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.choice import (
    DEFAULT_GENERATOR_WEIGHT,
    DEFAULT_TOLERANCE,
    RULES,
    SCORE,
    Rule,
)
from parlai_q2.rerank.reranker import (
    DEFAULT_COPY_PENALTY,
    DEFAULT_EVIDENCE,
    DEFAULT_GENERIC_PENALTY,
    DEFAULT_PREFILTER_KEEP,
    DEFAULT_REPEAT_PENALTY,
    DEFAULT_SCORER,
    Reranker,
)
from parlai_q2.scorers.base import Scorer

NONE = 'none'
DEFAULT_ABSTAIN_TEXT = "I'm not sure about that."


# For each option its type, and the least and the greatest value.
RANGES: Mapping[str, tuple[type, float, float]] = {
    'rerank_tolerance': (float, 0, 1),
    'abstain_below': (float, 0, 1),
    'prefilter_keep': (int, 1, inf),
    'copy_penalty': (float, 0, inf),
    'generic_penalty': (float, 0, inf),
    'repeat_penalty': (float, 0, inf),
}


def check_ranges(opt: Mapping[str, Any]) -> None:
    """
    Check the options that are present. They may come from a file or a program, too.

    :raises ConfigError: when one is out of its range or is not a number.
    """
    for name, (kind, least, most) in RANGES.items():
        value = opt.get(name)
        if value is None:
            continue
        if type(value) not in (int, kind) or not least <= value <= most:
            number = 'whole number' if kind is int else 'number'
            limits = f'of at least {least}' if most == inf else f'in [{least}, {most}]'
            raise ConfigError(
                f'--{name.replace("_", "-")} is {value!r}; it must be a {number} '
                f'{limits}.'
            )


def add_choice_options(parser: Any) -> Any:
    """Add the options for choosing between candidates; return their group."""
    group = parser.add_argument_group('Reranking: choice')
    group.add_argument(
        '--rerank-by',
        choices=RULES,
        default=SCORE,
        help='what to choose: the best score, the best sum of the score and the '
        'weighted score of the generator, or the first candidate, in the '
        "generator's order, above the scorer's threshold",
    )
    group.add_argument(
        '--rerank-tolerance',
        type=float,
        default=DEFAULT_TOLERANCE,
        help='candidates that score at most this far below the best count as equally '
        "good, and the generator's favourite among them is chosen",
    )
    group.add_argument(
        '--generator-weight',
        type=float,
        default=DEFAULT_GENERATOR_WEIGHT,
        help="weight of the generator's mean log probability per token (in nats), for "
        'score_plus_generator',
    )
    group.add_argument(
        '--abstain-below',
        type=float,
        help='say --abstain-text if the score of the chosen candidate, in [0, 1], is '
        'below this',
    )
    group.add_argument(
        '--abstain-text',
        default=DEFAULT_ABSTAIN_TEXT,
        help='what to say instead of a reply that is not grounded',
    )
    group.add_argument(
        '--prefilter',
        default=NONE,
        help='a cheap scorer that prunes candidates first, e.g. consistency; or none',
    )
    group.add_argument(
        '--prefilter-keep',
        type=int,
        default=DEFAULT_PREFILTER_KEEP,
        help="number of candidates that the prefilter keeps; the generator's first is "
        'always kept as well',
    )
    penalties = (
        ('copy', DEFAULT_COPY_PENALTY, 'a verbatim copy of the knowledge'),
        ('generic', DEFAULT_GENERIC_PENALTY, 'a reply that would fit any turn'),
        ('repeat', DEFAULT_REPEAT_PENALTY, 'a reply that says an earlier turn again'),
    )
    for name, default, reply in penalties:
        group.add_argument(
            f'--{name}-penalty',
            type=float,
            default=default,
            help=f'amount subtracted from the score of {reply}, at most down to the '
            'threshold; 0: nothing',
        )
    group.add_argument(
        '--evidence',
        default=DEFAULT_EVIDENCE,
        help='the scorer that explains the replies that are shown (the chosen one and '
        "the generator's first), if the scorer that chooses gives no evidence: spans "
        '(the detector marks words), q2 (questions and answers), or none',
    )
    add_context_option(group)
    return group


def reranker_from_opt(opt: Mapping[str, Any]) -> Reranker:
    """
    The reranker described by an ``opt``; its models are loaded when it first scores.

    :raises ConfigError: when an option is out of range or names something unknown.
    """
    check_ranges(opt)
    by = opt.get('rerank_by', SCORE)
    if by not in RULES:
        raise ConfigError(
            f'--rerank-by is {by!r}; it must be one of {", ".join(RULES)}.'
        )
    name = opt.get('rerank_scorer') or opt.get('scorer', DEFAULT_SCORER)
    scorer = scorer_from_opt({**opt, 'scorer': name})
    rule = Rule(
        by=by,
        generator_weight=opt.get('generator_weight', DEFAULT_GENERATOR_WEIGHT),
        threshold=scorer.threshold,
        tolerance=opt.get('rerank_tolerance', DEFAULT_TOLERANCE),
        abstain_below=opt.get('abstain_below'),
    )
    return Reranker(
        scorer,
        rule,
        prefilter=_other_scorer(opt, opt.get('prefilter')),
        prefilter_keep=opt.get('prefilter_keep', DEFAULT_PREFILTER_KEEP),
        copy_penalty=opt.get('copy_penalty', DEFAULT_COPY_PENALTY),
        generic_penalty=opt.get('generic_penalty', DEFAULT_GENERIC_PENALTY),
        repeat_penalty=opt.get('repeat_penalty', DEFAULT_REPEAT_PENALTY),
        evidence=_other_scorer(opt, opt.get('evidence', DEFAULT_EVIDENCE)),
    )


def _other_scorer(opt: Mapping[str, Any], name: Optional[str]) -> Optional[Scorer]:
    # --scorer-threshold and --calibration are meant for the scorer that decides alone.
    if name in (None, NONE):
        return None
    own = {'scorer': name, 'scorer_threshold': None, 'calibration': None}
    return scorer_from_opt({**opt, **own})
