"""
The options by which ParlAI commands choose a scorer, and the scorer they give.
"""

from typing import Any, Mapping

from parlai.core.params import ParlaiParser

from parlai_q2.scorers.base import Scorer
from parlai_q2.scorers.registry import DEFAULT_PRESET, load_scorer


def add_scorer_options(parser: ParlaiParser, scorer: str = 'q2') -> ParlaiParser:
    """
    Add ``--scorer``, ``--preset``, ``--scorer-threshold`` and ``--scorer-batch-size``.

    :param parser: the parser, changed in place.
    :param scorer: the default scorer.
    :return: the same parser.
    """
    group = parser.add_argument_group('Groundedness scorer')
    group.add_argument(
        '--scorer',
        type=str,
        default=scorer,
        help='what scores a response against its knowledge: q2, q2_f1 (without NLI), '
        'nli (end to end), consistency (the detector), overlap or precision',
    )
    group.add_argument(
        '--preset',
        type=str,
        default=DEFAULT_PRESET,
        help='the models: mini (shipped, offline), paper (fetched on first use), or a '
        'path to a YAML file',
    )
    group.add_argument(
        '--scorer-threshold',
        type=float,
        default=None,
        help='a score of at most this, in [0, 1], is inconsistent; default: the '
        "scorer's own",
    )
    group.add_argument(
        '--scorer-batch-size',
        type=int,
        default=None,
        help="texts in one call of a scorer's model; default: the preset's",
    )
    group.add_argument(
        '--scorer-device',
        type=str,
        default=None,
        help='torch device of the scorer; default: cuda:GPU when ParlAI uses a GPU, '
        'else cpu',
    )
    return parser


def scorer_from_opt(opt: Mapping[str, Any]) -> Scorer:
    """
    The scorer that an ``opt`` asks for.

    :param opt: ParlAI options that :func:`add_scorer_options` declared.
    :return: the scorer; its models are loaded when it first scores.
    """
    options = {}
    if opt.get('scorer_threshold') is not None:
        options['threshold'] = opt['scorer_threshold']
    if opt.get('scorer', 'q2') not in ('overlap', 'precision'):
        options['device'] = scorer_device(opt)
        if opt.get('scorer_batch_size'):
            options['batch_size'] = opt['scorer_batch_size']
    return load_scorer(
        opt.get('scorer', 'q2'), opt.get('preset', DEFAULT_PRESET), **options
    )


def scorer_device(opt: Mapping[str, Any]) -> str:
    """
    The torch device for the scorer: as asked for, else where ParlAI runs.
    """
    import torch

    if opt.get('scorer_device'):
        return opt['scorer_device']
    if opt.get('no_cuda') or not torch.cuda.is_available():
        return 'cpu'
    gpu = opt.get('gpu', -1)
    return f'cuda:{gpu}' if gpu is not None and gpu >= 0 else 'cuda'
