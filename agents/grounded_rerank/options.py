"""
The reranking agent's options, and the reranker that they describe.
"""

import argparse
from typing import Any, Mapping

from parlai.core.params import ParlaiParser

from parlai_q2.agents.grounded_rerank import strategies
from parlai_q2.agents.grounded_rerank.ranges import RANGES, check_ranges
from parlai_q2.cli.scorer_options import add_scorer_options, scorer_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.parlai.filter_options import add_delimiter_option
from parlai_q2.rerank.choice import (
    DEFAULT_GENERATOR_WEIGHT,
    DEFAULT_TOLERANCE,
    RULES,
    SCORE,
    Rule,
)
from parlai_q2.rerank.reranker import (
    DEFAULT_COPY_PENALTY,
    DEFAULT_GENERIC_PENALTY,
    DEFAULT_PREFILTER_KEEP,
    DEFAULT_SCORER,
    Reranker,
)
from parlai_q2.scorers.base import Scorer

NO_PREFILTER = 'none'
DEFAULT_ABSTAIN_TEXT = "I'm not sure about that."
# A seed below 0 leaves sampling to the global random numbers.
DEFAULT_SEED = 0


def add_rerank_options(parser: ParlaiParser) -> ParlaiParser:
    """
    Add the options for candidates, choice, knowledge and chat, and the scorer's
    options.

    :param parser: the parser, changed in place.
    :return: the same parser.
    """
    _add_candidates(parser)
    add_choice_options(parser)
    _add_knowledge(parser)
    return add_scorer_options(parser, scorer=DEFAULT_SCORER)


def forget_others_options(opt: dict[str, Any]) -> None:
    """
    Drop scorer options that another command saved.

    A generator trained on a task of parlai_q2, or with one of its mutators, has that
    task's ``scorer`` in its ``.opt``, and with it a threshold, device or cache other
    than the reranking defaults.

    :param opt: a model file's options, changed in place. Options that a reranking agent
        saved are kept. So are those that ParlAI has overridden since reading the file,
        because somebody asks for them now.
    """
    asked_for = {name for name, *_ in getattr(opt, 'history', ())}
    if 'candidate_strategies' in opt.keys() - asked_for:
        return
    parser = ParlaiParser(False, False)
    add_rerank_options(parser)
    for action in parser._actions:
        if action.dest not in asked_for:
            opt.pop(action.dest, None)


def reranker_from_opt(opt: Mapping[str, Any]) -> Reranker:
    """
    The reranker described by an ``opt``; its models are loaded when it first scores.

    :param opt: ParlAI options that :func:`add_rerank_options` declared.
    :raises ConfigError: when an option is out of range or names something unknown.
    """
    check_ranges(opt)
    by = opt.get('rerank_by', SCORE)
    if by not in RULES:
        raise ConfigError(
            f'--rerank-by is {by!r}; it must be one of {", ".join(RULES)}.'
        )
    scorer = _scorer(opt, opt.get('rerank_scorer') or opt.get('scorer', DEFAULT_SCORER))
    cheap = opt.get('prefilter', NO_PREFILTER)
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
        # --scorer-threshold is meant for the scorer that decides, not for this one.
        prefilter=(
            None
            if cheap in (None, NO_PREFILTER)
            else _scorer({**opt, 'scorer_threshold': None}, cheap)
        ),
        prefilter_keep=opt.get('prefilter_keep', DEFAULT_PREFILTER_KEEP),
        copy_penalty=opt.get('copy_penalty', DEFAULT_COPY_PENALTY),
        generic_penalty=opt.get('generic_penalty', DEFAULT_GENERIC_PENALTY),
    )


def _scorer(opt: Mapping[str, Any], name: str) -> Scorer:
    return scorer_from_opt({**opt, 'scorer': name})


def _add_candidates(parser: ParlaiParser) -> None:
    group = parser.add_argument_group('Reranking: candidates')
    group.add_argument(
        '--candidate-strategies',
        type=_strategies,
        default=strategies.DEFAULT_STRATEGIES,
        help='comma-separated strategies with the number of candidates each finds, as '
        'in beam:3; ties are decided in this order. Strategies: '
        + ', '.join(strategies.NAMES),
    )
    group.add_argument(
        '--rerank-topk',
        type=RANGES['rerank_topk'],
        default=strategies.DEFAULT_TOPK,
        help='number of likeliest tokens that topk and delayedbeam sample from',
    )
    group.add_argument(
        '--rerank-topp',
        type=RANGES['rerank_topp'],
        default=strategies.DEFAULT_TOPP,
        help='probability mass that the nucleus strategies sample from, in (0, 1]',
    )
    group.add_argument(
        '--rerank-beam-delay',
        type=RANGES['rerank_beam_delay'],
        default=strategies.DEFAULT_BEAM_DELAY,
        help='number of tokens that the delayed strategies sample before they '
        'continue with beam search',
    )
    group.add_argument(
        '--candidate-seed',
        type=int,
        default=DEFAULT_SEED,
        help='seed of the sampling strategies: the same context gives the same '
        "candidates; below 0, torch's global random numbers are used",
    )


def add_choice_options(parser: ParlaiParser) -> None:
    """
    Add the options for choosing between candidates, wherever those come from.
    """
    group = parser.add_argument_group('Reranking: choice')
    group.add_argument(
        '--rerank-scorer',
        type=str,
        default=None,
        help='the scorer that reranks, if it should differ from the one that a task '
        'measures with; default: --scorer',
    )
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
        type=RANGES['rerank_tolerance'],
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
        type=RANGES['abstain_below'],
        default=None,
        help='say --abstain-text if the score of the chosen candidate, in [0, 1], is '
        'below this',
    )
    group.add_argument(
        '--abstain-text',
        type=str,
        default=DEFAULT_ABSTAIN_TEXT,
        help='what to say instead of a reply that is not grounded',
    )
    group.add_argument(
        '--prefilter',
        type=str,
        default=NO_PREFILTER,
        help='a cheap scorer that prunes candidates first, e.g. consistency; or none',
    )
    group.add_argument(
        '--prefilter-keep',
        type=RANGES['prefilter_keep'],
        default=DEFAULT_PREFILTER_KEEP,
        help="number of candidates that the prefilter keeps; the generator's first is "
        'always kept as well',
    )
    group.add_argument(
        '--copy-penalty',
        type=RANGES['copy_penalty'],
        default=DEFAULT_COPY_PENALTY,
        help='amount subtracted from the score of a verbatim copy of the knowledge, '
        'at most down to the threshold; 0: nothing',
    )
    group.add_argument(
        '--generic-penalty',
        type=RANGES['generic_penalty'],
        default=DEFAULT_GENERIC_PENALTY,
        help='amount subtracted from the score of a reply that would fit any turn, at '
        'most down to the threshold; 0: nothing',
    )


def _add_knowledge(parser: ParlaiParser) -> None:
    group = parser.add_argument_group('Reranking: knowledge and chat')
    add_delimiter_option(group)
    group.add_argument(
        '--knowledge-file',
        type=str,
        default=None,
        help='file with knowledge for turns that bring none: one passage (.txt), or '
        'one JSON record per line with "knowledge" and, optionally, "topic" '
        '(.jsonl)',
    )
    group.add_argument(
        '--show-candidates',
        type='bool',
        default=False,
        help='in chat, show the candidates with scores and evidence above each reply',
    )


def _strategies(text: str) -> str:
    try:
        return ','.join(map(str, strategies.parse_strategies(text)))
    except ConfigError as e:
        raise argparse.ArgumentTypeError(str(e)) from e
