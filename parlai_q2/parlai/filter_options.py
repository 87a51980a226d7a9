"""The options that decide which labels are kept, and the policy they ask for."""

from parlai.core.params import ParlaiParser

from parlai_q2.cli.knowledge_options import add_knowledge_options
from parlai_q2.filtering.judge import Fate, Policy, Unit
from parlai_q2.options import Options
from parlai_q2.scorers.roles import Role


def add_filter_options(
    parser: ParlaiParser, default: str = Fate.KEEP, prefix: str = ''
) -> None:
    """
    Add the options that decide what is kept, besides the scorer's threshold.

    :param default: whether to keep or drop turns that cannot be judged, by default.
    """
    group = parser.add_argument_group('Labels to keep')
    for name, what in (
        ('generic', 'labels that make no statement to check'),
        ('unverifiable', 'labels in which the scorer could verify nothing'),
        ('no-knowledge', 'labels of turns without knowledge'),
    ):
        group.add_argument(
            f'--{prefix}{name}',
            choices=[*map(str, Fate)],
            default=str(default),
            help=f'keep or drop {what}',
        )
    group.add_argument(
        f'--{prefix}drop',
        choices=[*map(str, Unit)],
        default=str(Unit.TURNS),
        help='turns: drop single turns, which stay in the history of later ones; '
        'episodes: drop an episode if any of its turns is dropped',
    )
    add_knowledge_options(parser.add_argument_group('Knowledge'))


def policy_from_opt(
    opt: Options, threshold: float, role: Role, prefix: str = ''
) -> Policy:
    """
    The policy that the options of :func:`add_filter_options` ask for: a label is kept
    if its score is above the role's threshold, by default the scorer's.

    :raises ConfigError: when the threshold is out of range.
    """
    prefix = prefix.replace('-', '_')
    names = ('generic', 'unverifiable', 'no_knowledge')
    fields = {name: opt.get(prefix + name) for name in names}
    fields['unit'] = opt.get(f'{prefix}drop')
    fields['threshold'] = opt.get(f'{role.value}_threshold')
    chosen = {name: value for name, value in fields.items() if value is not None}
    return Policy(**{'threshold': threshold, **chosen})
