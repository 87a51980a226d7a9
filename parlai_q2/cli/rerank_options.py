"""The options for choosing among candidates, and the reranker that they describe."""

from typing import Any, Mapping

from parlai_q2.cli.scorer_options import explainer_from_opt, scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.choice import DEFAULT_BY, DEFAULT_GENERATOR_WEIGHT, By, Rule
from parlai_q2.rerank.reranker import Reranker
from parlai_q2.scorers.roles import Role
from parlai_q2.typed import is_number

DEFAULT_ABSTAIN_TEXT = "I'm not sure about that."


def check_ranges(opt: Mapping[str, Any]) -> None:
    """
    Check the options that are present. They may come from a file or a program, too.

    :raises ConfigError: when one is out of its range or is not a number.
    """
    for option in ('abstain_below', 'candidates_until'):
        value = opt.get(option)
        if value is not None and not (is_number(value) and 0 <= value <= 1):
            raise ConfigError(
                f'--{option.replace("_", "-")} is {value!r}; it must be a number in '
                '[0, 1].'
            )


def add_choice_options(parser: Any) -> Any:
    """Add the options for choosing between candidates; return their group."""
    group = parser.add_argument_group('Reranking: choice')
    group.add_argument(
        '--rerank-by',
        choices=tuple(By),
        default=DEFAULT_BY,
        help='choose the best sum of the score and the weighted log probability by the '
        'generator (the score alone where that is not known of all candidates, or '
        'several searches found them), the best score, or the first candidate of the '
        'generator above the threshold',
    )
    group.add_argument(
        '--generator-weight',
        type=float,
        default=DEFAULT_GENERATOR_WEIGHT,
        help="weight of the generator's mean log probability of a token, for "
        'score_plus_generator',
    )
    group.add_argument(
        '--abstain-below',
        type=float,
        help='say --abstain-text if the chosen candidate scores below this, in [0, 1]',
    )
    group.add_argument(
        '--abstain-text',
        default=DEFAULT_ABSTAIN_TEXT,
        help='what to say instead of a reply that is not grounded',
    )
    group.add_argument(
        '--guards',
        type='bool',
        default=True,
        help='lower the scores of copies of the knowledge, generic replies, '
        'repetitions, misspelt words of the knowledge and replies that do not '
        'name what they are about, at most to the threshold',
    )
    return group


def reranker_from_opt(opt: Mapping[str, Any]) -> Reranker:
    """
    The reranker described by an ``opt``; its models are loaded when it first scores.

    :raises ConfigError: when an option is out of range or names something unknown.
    """
    check_ranges(opt)
    by = opt.get('rerank_by', DEFAULT_BY)
    if by not in tuple(By):
        raise ConfigError(f'--rerank-by is {by!r}; it must be one of {", ".join(By)}.')
    chooser = scorer_from_opt(opt, Role.CHOOSE)
    rule = Rule(
        by=by,
        generator_weight=opt.get('generator_weight', DEFAULT_GENERATOR_WEIGHT),
        threshold=chooser.threshold,
        abstain_below=opt.get('abstain_below'),
    )
    guards = opt.get('guards')
    return Reranker(
        chooser, rule, guards is None or bool(guards), explainer_from_opt(opt)
    )
