"""
The options of the consistency agent.
"""

from typing import Any, Mapping

from parlai.core.params import ParlaiParser

from parlai_q2.cli.scorer_options import add_scorer_options
from parlai_q2.errors import ConfigError
from parlai_q2.parlai.classification import add_class_map

DEFAULT_SCORER = 'consistency'


def add_options(parser: ParlaiParser) -> ParlaiParser:
    """
    Add ``--classes``, ``--class-map``, ``--threshold``, ``--print-scores``,
    ``--no-cuda``, ``--gpu`` and the scorer's options.

    :param parser: the parser, changed in place.
    :return: the same parser.
    """
    group = parser.add_argument_group('Consistency Agent')
    group.add_argument(
        '--classes',
        type=str,
        nargs='*',
        default=None,
        help="the names of the classes; default: the task's label candidates, or "
        'consistent, inconsistent and generic where it has none',
    )
    add_class_map(group)
    group.add_argument(
        '--threshold',
        type=float,
        default=None,
        help='answer the class of consistent responses if its probability, in [0, 1], '
        'is above this; default: the likeliest class, or, for a scorer without '
        "class probabilities, the scorer's own threshold",
    )
    group.add_argument(
        '--print-scores',
        type='bool',
        default=False,
        help='in chat, also say the probability of the answer, and put class_list and '
        'probs in the message',
    )
    # Named as in ParlAI's torch agents; the scorer follows them.
    group.add_argument(
        '--no-cuda',
        action='store_true',
        default=False,
        help='compute on the CPU, even if there is a GPU',
    )
    group.add_argument('--gpu', type=int, default=-1, help='which GPU; -1 for any')
    return add_scorer_options(parser, scorer=DEFAULT_SCORER)


def check_options(opt: Mapping[str, Any]) -> None:
    """
    Check the threshold in ``opt``.

    :raises ConfigError: when it is out of range, or both kinds of threshold are given.
    """
    threshold = opt.get('threshold')
    if threshold is None:
        return
    if not 0 <= threshold <= 1:
        raise ConfigError(
            f'--threshold must be a probability in [0, 1], not {threshold}.'
        )
    if opt.get('scorer_threshold') is not None:
        raise ConfigError('Give either --threshold or --scorer-threshold, not both.')
