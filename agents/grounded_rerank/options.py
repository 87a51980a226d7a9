"""The reranking agent's options."""

import argparse
from typing import Any

from parlai.core.params import ParlaiParser

from parlai_q2.cli.knowledge_options import add_index_options, add_knowledge_options
from parlai_q2.cli.rerank_options import add_choice_options
from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import ConfigError
from parlai_q2.generate import strategies
from parlai_q2.scorers.roles import Role

DEFAULT_SEED = 0


def add_rerank_options(parser: ParlaiParser) -> ParlaiParser:
    """Add the options for candidates, choice, knowledge, chat and scorers."""
    group = parser.add_argument_group('Reranking: candidates')
    group.add_argument(
        '--candidate-strategies',
        type=_strategies,
        default=strategies.DEFAULT_STRATEGIES,
        help='searches, each with its number of candidates, such as '
        'beam:4,nucleus:3. Settings follow after slashes: the width of a beam '
        '(beam:3/10), nucleus:3/p=0.9, delayedbeam:3/k=10/delay=5. The order of the '
        'searches decides ties. Searches: ' + ', '.join(strategies.Search),
    )
    group.add_argument(
        '--candidate-seed',
        type=int,
        default=DEFAULT_SEED,
        help='seed of sampling: the same command gives the same candidates',
    )
    group.add_argument(
        '--candidates-until',
        type=float,
        help='run the first strategy (or request one reply from a server), and the '
        'rest only if none of its candidates is consistent with at least this score, '
        'in [0, 1]; default: run all',
    )
    add_choice_options(parser)
    group = parser.add_argument_group('Reranking: knowledge and chat')
    add_knowledge_options(group)
    add_index_options(group)
    return add_scorer_options(parser, Role.CHOOSE, Role.EXPLAIN)


def drop_options_of_other_commands(opt: dict[str, Any]) -> None:
    """
    Drop the scorer options that another command saved from a model file's options.

    If a generator was trained on a task or with a mutator of parlai_q2, its ``.opt``
    has that task's scorer, threshold, device and cache instead of the reranking
    defaults. Options that a reranking agent saved stay. So do options that ParlAI has
    overridden since it read the file, because the user set them now.
    """
    overridden = {name for name, *_ in getattr(opt, 'history', ())}
    if 'candidate_strategies' in opt.keys() - overridden:
        return
    parser = ParlaiParser(False, False)
    add_rerank_options(parser)
    for action in parser._actions:
        if action.dest not in overridden:
            opt.pop(action.dest, None)


def _strategies(text: str) -> str:
    try:
        return ','.join(map(str, strategies.parse_strategies(text)))
    except ConfigError as e:
        raise argparse.ArgumentTypeError(str(e)) from e
