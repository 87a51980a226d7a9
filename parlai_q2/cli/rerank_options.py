"""The options for choosing among candidates, and the reranker that they describe."""

from collections.abc import Mapping
from typing import Any

from parlai_q2.cli.scorer_options import explainer_from_opt, scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.rerank.choice import (
    DEFAULT_GENERATOR_WEIGHT,
    DEFAULT_RERANK_BY,
    RerankBy,
    Rule,
)
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
        choices=tuple(RerankBy),
        default=DEFAULT_RERANK_BY,
        help='combined: groundedness, relevance, right answer and likelihood; '
        'score_plus_generator: groundedness and likelihood; score: the '
        'highest score; threshold: the first candidate above the threshold. '
        'The likelihood counts only if one search returned all candidates '
        'with it',
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
        'could not be verified, return --abstain-text (true) or the '
        "generator's first reply (false)",
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
        help='lower the scores of copies of the knowledge, generic replies, '
        'repetitions, replies with misspelt words and replies that do not '
        'name their subject, though never below the threshold',
    )
    return group


def reranker_from_opt(opt: Mapping[str, Any]) -> Reranker:
    """
    The reranker described by an ``opt``; its models are loaded when it first scores.

    :raises ConfigError: when an option is out of range or names something unknown.
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
        threshold=chooser.threshold,
        abstain_below=opt.get('abstain_below'),
        abstain_unverified=bool(opt.get('abstain_unverified', True)),
    )
    guards = opt.get('guards')
    return Reranker(
        chooser, rule, guards is None or bool(guards), explainer_from_opt(opt)
    )
