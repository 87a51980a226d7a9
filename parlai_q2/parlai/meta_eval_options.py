"""
The options of ``parlai_q2 meta_eval``, and the scorers and columns that they give.
"""

from typing import Any, Mapping

from parlai.core.params import ParlaiParser

from parlai_q2.bootstrap import ROUNDS, SEED
from parlai_q2.cli.scorer_options import (
    add_cache_options,
    add_model_options,
    model_options,
    with_cache,
)
from parlai_q2.errors import ConfigError
from parlai_q2.evaluate.columns import ColumnScores, parse_column, read_column
from parlai_q2.evaluate.variants import VARIANTS, load_variant
from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.persona import Q2_OPTIONS
from parlai_q2.scorers.persona import SCORERS as PERSONA_SCORERS
from parlai_q2.scorers.registry import (
    WITHOUT_MODELS,
    load_scorer,
    register_scorer,
)
from parlai_q2.text.typed import typed_names

PERSONA_SET = 'dialogue_nli'
DEFAULT_SCORERS = 'q2,q2_f1,nli,consistency,content_overlap,overlap,precision'


def add_meta_eval_options(parser: ParlaiParser) -> ParlaiParser:
    """
    Add all options of the command.

    :param parser: the parser, changed in place.
    :return: the same parser.
    """
    group = parser.add_argument_group('Meta-evaluation')
    # Not ParlAI's own --task, which must be a teacher.
    group.add_argument(
        '-t',
        '--task',
        dest='judged_sets',
        type=str,
        default='q2_wow',
        help='comma-separated annotated sets: q2_wow, begin, rome, dialogue_nli, '
        'topical_chat_usr; words after colons choose a part, as in begin:wow',
    )
    parser.add_parlai_data_path(group)
    group.add_argument(
        '-dt',
        '--datatype',
        choices=['valid', 'test'],
        default='valid',
        help='the fold to use, if a set has several',
    )
    group.add_argument(
        '--scorers',
        type=str,
        default=DEFAULT_SCORERS,
        help='comma-separated scorers, in the order the tables show them: a name, '
        "NAME@PRESET for another preset than --preset's, or module:factory for "
        'one of your own',
    )
    group.add_argument(
        '--score-columns',
        type=str,
        default=None,
        help='comma-separated columns of scores made elsewhere: FILE:COLUMN or '
        'NAME=FILE:COLUMN, from csv, tsv or JSON lines files with knowledge and '
        'response',
    )
    add_model_options(group)
    group.add_argument(
        '--ablations',
        type='bool',
        default=True,
        help='for q2_wow: also score with four other settings of q2 (Tables 8 and 9), '
        'which takes four times as long again as q2',
    )
    group.add_argument(
        '--random-knowledge',
        type='bool',
        default=True,
        help='also score responses against knowledge from other turns and dialogues '
        '(Table 10), for sets that tell dialogues apart',
    )
    group.add_argument(
        '--num-examples',
        type=int,
        default=-1,
        help='draw this many responses from each set, for a first look; -1: all',
    )
    group.add_argument(
        '--rounds',
        type=int,
        default=ROUNDS,
        help='rounds of each bootstrap, at least 1',
    )
    group.add_argument(
        '--seed',
        type=int,
        default=SEED,
        help='seed of everything drawn at random, at least 0',
    )
    group.add_argument(
        '--figures', type='bool', default=True, help='draw figures with matplotlib'
    )
    group.add_argument(
        '--outdir',
        type=str,
        default='outputs/meta_eval',
        help='folder to write the tables, scores and figures to',
    )
    return add_cache_options(parser)


def scorers_from_opt(opt: Mapping[str, Any], judged_set: str) -> dict[str, Scorer]:
    """
    The scorers that ``--scorers`` names, by the names that tables print.

    :param judged_set: the set to score. For Dialogue NLI, Q2 has other settings, as in
        its paper.
    :raises UnknownNameError: for a name that no scorer has.
    :raises ConfigError: when one is named twice.
    """
    scorers: dict[str, Scorer] = {}
    for name in typed_names(opt.get('scorers')):
        if name in scorers:
            raise ConfigError(f'--scorers names {name} twice.')
        base, _, preset = name.partition('@')
        if ':' in base:
            register_scorer(base, base)
        options = _model_options(opt, base)
        if judged_set.startswith(PERSONA_SET):
            options.update(Q2_OPTIONS if base in PERSONA_SCORERS else {})
        loaded = load_scorer(base, preset or opt['preset'], **options)
        scorers[name] = with_cache(opt, loaded, default=True)
    return scorers


def variants_from_opt(opt: Mapping[str, Any]) -> dict[str, Scorer]:
    """
    Q2 in the settings of the ablations, if ``q2`` is among the scorers.
    """
    if not opt['ablations'] or 'q2' not in typed_names(opt.get('scorers')):
        return {}
    options = _model_options(opt, 'q2')
    return {
        variant.name: with_cache(
            opt, load_variant(variant, opt['preset'], **options), default=True
        )
        for variant in VARIANTS
    }


def columns_from_opt(opt: Mapping[str, Any]) -> list[ColumnScores]:
    """
    The columns that ``--score-columns`` names.

    :raises ConfigError: when a value names no column, or a name is used twice.
    :raises InputError: when a column cannot be read.
    """
    taken = set(typed_names(opt.get('scorers')))
    columns = []
    for text in typed_names(opt.get('score_columns')):
        column = parse_column(text)
        if column.name in taken:
            raise ConfigError(
                f'The name {column.name!r} is taken. Give the column another: '
                f'mine={column.path}:{column.column}'
            )
        taken.add(column.name)
        columns.append(read_column(column))
    return columns


def _model_options(opt: Mapping[str, Any], name: str) -> dict[str, Any]:
    # A scorer of the user's own may not have these options, so it gets none.
    if name in WITHOUT_MODELS or ':' in name:
        return {}
    return model_options(opt)
