"""The agent's options, and the generator that they describe."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from parlai.core.params import ParlaiParser

from parlai_q2.errors import ConfigError
from parlai_q2.generate.decoding import Decoding
from parlai_q2.generate.library import COMPUTE_TYPES, Place
from parlai_q2.generate.open import Generator, open_generator
from parlai_q2.generate.shipped import REPLY_DECODING, REPLY_MODEL, REPLY_TOKENS
from parlai_q2.generate.strategies import DEFAULT_BEAM, Search, Strategy
from parlai_q2.models.prompts import REPLY
from parlai_q2.models.references import SHIPPED as SHIPPED_PREFIX
from parlai_q2.models.references import shipped_folder

DEFAULT_INFERENCE = Search.NUCLEUS
SHIPPED_MODEL = f'{SHIPPED_PREFIX}{REPLY_MODEL}'
# What suits the shipped reply model, and the defaults for other models.
SHIPPED = {
    'prompt_template': REPLY,
    'inference': str(Search.BEAM),
    'beam_size': DEFAULT_BEAM,
    'beam_min_length': REPLY_DECODING.beam_min_length,
    'beam_block_ngram': REPLY_DECODING.beam_block_ngram,
    'text_truncate': REPLY_TOKENS,
    'label_truncate': REPLY_DECODING.label_truncate,
}
OTHERS = {
    'prompt_template': None,
    'inference': None,
    'beam_size': None,
    'beam_min_length': Decoding.beam_min_length,
    'beam_block_ngram': Decoding.beam_block_ngram,
    'text_truncate': None,
    'label_truncate': Decoding.label_truncate,
}


class _ModelAction(argparse._StoreAction):
    """
    Stores ``--model-path`` and sets the defaults that go with it, which take effect
    when ParlAI reads the command line again.
    """

    def __call__(self, parser, namespace, values, option_string=None):
        super().__call__(parser, namespace, values, option_string)
        parser.set_defaults(**defaults(values))


def defaults(model_path: Optional[str]) -> dict[str, Any]:
    """The defaults of options that depend on the model."""
    return SHIPPED if model_path == SHIPPED_MODEL else OTHERS


def add_options(
    parser: ParlaiParser, partial_opt: Optional[Mapping] = None
) -> ParlaiParser:
    """Add the options to a parser with those of TorchAgent."""
    group = parser.add_argument_group('CTranslate2 Agent')
    group.add_argument(
        '--model-path',
        action=_ModelAction,
        type=str,
        default=SHIPPED_MODEL,
        help='a folder that ct2-transformers-converter wrote, with its tokenizer. The '
        'default, the shipped reply model, also sets the search and lengths that '
        'suit it',
    )
    group.add_argument(
        '--chat-template',
        type=str,
        default=None,
        help="a file with a Jinja chat template, in place of the tokenizer's",
    )
    group.add_argument(
        '--prompt-template',
        type=str,
        default=None,
        help="a chat model's system message, or else the text that the model reads: a "
        'format string with {knowledge} and {history}',
    )
    group.add_argument('--device', type=str, default='cpu', help='cpu, cuda or cuda:1')
    group.add_argument(
        '--compute-type',
        type=str,
        default='default',
        help=f'one of {", ".join(COMPUTE_TYPES)}; default: as the model is stored',
    )
    group.add_argument(
        '--stop',
        type=str,
        nargs='+',
        default=None,
        help='texts or tokens at which a reply is cut',
    )
    group = parser.add_argument_group('CTranslate2 Agent: search')
    group.add_argument(
        '--inference',
        choices=tuple(Search),
        default=None,
        help='the search for a reply that is not reranked; reranking takes '
        f'--candidate-strategies. Default: {DEFAULT_INFERENCE}',
    )
    for name, kind, explanation in (
        ('--beam-size', int, 'width of beams for --inference'),
        ('--topk', int, 'for --inference topk or delayedbeam'),
        ('--topp', float, 'for --inference nucleus'),
        ('--beam-delay', int, 'for --inference delayedbeam'),
    ):
        group.add_argument(name, type=kind, default=None, help=explanation)
    usual = Decoding()
    for name, explanation in (
        ('temperature', 'of whatever samples'),
        ('beam_length_penalty', 'scores are divided by the length to this power'),
        ('beam_block_ngram', 'no n-gram of this size occurs twice; 0: no limit'),
        ('beam_min_length', 'the least number of tokens'),
    ):
        value = getattr(usual, name)
        option = f'--{name.replace("_", "-")}'
        group.add_argument(option, type=type(value), default=value, help=explanation)
    model_path = (partial_opt or {}).get('model_path', SHIPPED_MODEL)
    parser.set_defaults(**defaults(model_path))
    return parser


def strategy_from_opt(opt: Mapping[str, Any]) -> Strategy:
    """
    The search of an agent that is not reranked.

    :raises ConfigError: when a number is impossible.
    """
    name = opt.get('inference') or DEFAULT_INFERENCE
    given = {
        'beam': opt.get('beam_size') if name == Search.BEAM else None,
        'p': opt.get('topp'),
        'k': opt.get('topk'),
        'delay': opt.get('beam_delay'),
    }
    for option, value in (
        ('--beam-size', given['beam']),
        ('--topk', given['k']),
        ('--beam-delay', given['delay']),
    ):
        if value is not None and not 1 <= value <= 200:
            raise ConfigError(f'{option} is {value}; it must be from 1 to 200.')
    if given['p'] is not None and not 0 < given['p'] <= 1:
        raise ConfigError(f'--topp is {given["p"]}; it must be above 0 and at most 1.')
    return Strategy(name, 1, **{k: v for k, v in given.items() if v is not None})


def generator_from_opt(opt: Mapping[str, Any]) -> Generator:
    """
    The generator that the options describe.

    :raises ConfigError: when an option cannot be right.
    :raises ModelError: when the model cannot be read.
    """
    model_path = opt.get('model_path') or SHIPPED_MODEL
    length = opt.get('text_truncate')
    if length is None or length < 1:
        length = opt.get('truncate')
    label = opt.get('label_truncate')
    if label is not None and label < 1:  # ParlAI's sign for no limit
        label = None
    return open_generator(
        Place(_folder(model_path), opt['device'], opt['compute_type']),
        Decoding.from_opt(
            {**opt, 'label_truncate': label if label and label > 0 else None}
        ),
        prompt=opt.get('prompt_template'),
        chat_template=opt.get('chat_template'),
        stops=opt.get('stop') or (),
        most_tokens=length if length and length > 0 else None,
    )


def _folder(model_path: str) -> Path:
    if model_path.startswith(SHIPPED_PREFIX):
        return shipped_folder(model_path[len(SHIPPED_PREFIX) :])
    return Path(model_path).expanduser()
