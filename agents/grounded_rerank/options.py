"""The reranking agent's options, and the reranker that they describe."""

import argparse
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_q2.cli.rerank_options import add_choice_options
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import ConfigError
from parlai_q2.generate import strategies
from parlai_q2.parlai.knowledge_options import add_index_options, add_knowledge_options
from parlai_q2.scorers.roles import Role

DEFAULT_SEED = 0


def add_rerank_options(parser: ParlaiParser) -> ParlaiParser:
    """Add the options for candidates, choice, knowledge and chat, and the scorer's."""
    group = parser.add_argument_group('Reranking: candidates')
    group.add_argument(
        '--candidate-strategies',
        type=_strategies,
        default=strategies.DEFAULT_STRATEGIES,
        help='searches, each with the number of candidates that it finds, as in '
        'beam:4,nucleus:3; after slashes, the width of a beam (beam:3/10) and settings '
        '(nucleus:3/p=0.9, delayedbeam:3/k=10/delay=5). Their order decides ties. '
        'Searches: ' + ', '.join(strategies.Search),
    )
    group.add_argument(
        '--candidate-seed',
        type=int,
        default=DEFAULT_SEED,
        help='seed of sampling: the same context gives the same candidates',
    )
    group.add_argument(
        '--candidates-until',
        type=float,
        help='ask the first strategy (of a server, for one reply), and the others only '
        'where no candidate of it is consistent with at least this score, in [0, 1]; '
        'default: ask all',
    )
    add_choice_options(parser)
    group = parser.add_argument_group('Reranking: knowledge and chat')
    add_knowledge_options(group)
    add_index_options(group)
    return add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)


def forget_others_options(opt: dict[str, Any]) -> None:
    """
    Drop scorer options that another command saved, from a model file's options.

    A generator trained on a task of parlai_q2, or with one of its mutators, has that
    task's ``choose`` in its ``.opt``, and with it a threshold, device or cache other
    than the reranking defaults. Options that a reranking agent saved are kept. So are
    those that ParlAI has overridden since reading the file, because somebody asks for
    them now.
    """
    asked_for = {name for name, *_ in getattr(opt, 'history', ())}
    if 'candidate_strategies' in opt.keys() - asked_for:
        return
    parser = ParlaiParser(False, False)
    add_rerank_options(parser)
    for action in parser._actions:
        if action.dest not in asked_for:
            opt.pop(action.dest, None)


def _strategies(text: str) -> str:
    try:
        return ','.join(map(str, strategies.parse_strategies(text)))
    except ConfigError as e:
        raise argparse.ArgumentTypeError(str(e)) from e
