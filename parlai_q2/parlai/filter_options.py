"""The options for which turns are kept, and the policy that they give."""

from typing import Any, Mapping, Optional

from parlai.core.params import ParlaiParser

from parlai_q2.filtering.policy import CHOICES, KEEP, TURNS, UNITS, Policy
from parlai_q2.options import line_ends
from parlai_q2.scorers.base import Scorer


def add_filter_options(
    parser: ParlaiParser, default: str = KEEP, prefix: str = ''
) -> None:
    """
    Add ``--threshold`` and the other options for what is kept.

    :param default: whether to keep or drop turns that cannot be judged, by default.
    :param prefix: put before each option's name, to avoid clashes with other options.
    """
    group = parser.add_argument_group('What stays')
    group.add_argument(
        f'--{prefix}threshold',
        type=float,
        default=None,
        help='keep a label if its score is above this, in [0, 1]; default: the '
        "scorer's own threshold. Trying another value needs no new scoring",
    )
    for name, what in (
        ('generic', 'labels that make no statement to check'),
        ('unverifiable', 'labels in which the scorer could verify nothing'),
        ('no-knowledge', 'labels of turns without knowledge'),
    ):
        group.add_argument(
            f'--{prefix}{name}',
            choices=CHOICES,
            default=default,
            help=f'keep or drop {what}',
        )
    group.add_argument(
        f'--{prefix}drop',
        choices=UNITS,
        default=TURNS,
        help='drop single turns (later turns still have them in their history), or '
        'the whole episode when one of its turns is dropped',
    )
    add_delimiter_option(parser.add_argument_group('Knowledge'))


def add_delimiter_option(group: Any) -> None:
    """Add ``--knowledge-delimiter``."""
    group.add_argument(
        '--knowledge-delimiter',
        type=str,
        default=None,
        help='separator between a knowledge passage and the message in a text, e.g. '
        '"\\n"; the passage applies until its episode brings another or ends',
    )


def policy_from_opt(opt: Mapping[str, Any], scorer: Scorer, prefix: str = '') -> Policy:
    """
    The policy that the options of :func:`add_filter_options` ask for.

    :param scorer: its threshold is the default.
    :raises ConfigError: when the threshold is out of range.
    """
    prefix = prefix.replace('-', '_')
    names = ('threshold', 'generic', 'unverifiable', 'no_knowledge')
    fields = {name: opt.get(prefix + name) for name in names}
    fields['unit'] = opt.get(f'{prefix}drop')
    given = {name: value for name, value in fields.items() if value is not None}
    return Policy(**{'threshold': scorer.threshold, **given})


def delimiter_from_opt(opt: Mapping[str, Any]) -> Optional[str]:
    """The ``--knowledge-delimiter``, with a typed ``\\n`` as a newline, or None."""
    given = opt.get('knowledge_delimiter')
    return line_ends(given) if given else None
