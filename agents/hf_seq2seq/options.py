"""The agent's options, and the decoding defaults of the shipped reply model."""

from pathlib import Path
from typing import Any

from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser

from parlai_q2.models.prompts import PLAIN, REPLY, Prompt
from parlai_q2.options import DefaultsAction, Options, line_ends
from parlai_q2.parlai.model_files import saved_opt

DEFAULT_MODEL = 'shipped:q2_mini/reply'

# Decoding that suits the shipped reply model, and ParlAI's own decoding, which is the
# default for other models. Lengths are in tokens.
REPLY_DECODING = {
    'inference': 'beam',
    'beam_size': 5,
    'beam_min_length': 8,
    'beam_block_ngram': 3,
    'text_truncate': 512,
    'label_truncate': 64,
}
PARLAI_DECODING = {
    'inference': 'greedy',
    'beam_size': 1,
    'beam_min_length': 1,
    'beam_block_ngram': -1,
    'text_truncate': None,
    'label_truncate': None,
}


def add_options(
    parser: ParlaiParser, partial_opt: Options | None = None
) -> ParlaiParser:
    """
    Add the agent's options to a parser with those of TorchGeneratorAgent.

    :param partial_opt: the options that ParlAI has read so far.
    """
    group = parser.add_argument_group('HfSeq2seq Agent')
    group.add_argument(
        '--hf-model',
        action=DefaultsAction,
        find_defaults=decoding,
        type=str,
        default=DEFAULT_MODEL,
        help='the encoder-decoder: shipped:NAME, a folder that save_pretrained wrote, '
        'or a Hugging Face hub name. A saved --model-file takes precedence. The '
        'default, the shipped reply model, also sets beam search and lengths '
        'that suit it',
    )
    group.add_argument(
        '--prompt-template',
        type=str,
        default=None,
        help="the encoder's text: a format string with {history} and {knowledge}, or "
        "with {text} for ParlAI's history text as it is; or reply, the prompt of "
        'the shipped reply model. Default: reply for that model, else {text}',
    )
    options = partial_opt or {}
    trained = trained_with(options)
    hf_model = trained.get('hf_model') or options.get('hf_model', DEFAULT_MODEL)
    parser.set_defaults(**decoding(hf_model), **trained)
    return parser


def trained_with(opt: Options) -> dict[str, Any]:
    """
    ``hf_model`` and ``prompt_template`` of ``--init-model``, whose weights expect that
    prompt; empty where training starts from no saved model of this agent.
    """
    model_file, beside = opt.get('model_file'), saved_opt(opt, 'init_model')
    if not beside or (model_file and Path(model_file).exists()):
        return {}
    saved = Opt.load(beside)
    if not saved.get('hf_model'):
        return {}
    return {name: saved.get(name) for name in ('hf_model', 'prompt_template')}


def decoding(hf_model: str) -> Options:
    return REPLY_DECODING if hf_model == DEFAULT_MODEL else PARLAI_DECODING


def prompt_from_opt(opt: Options) -> Prompt:
    template = opt.get('prompt_template')
    if template is None:
        template = REPLY if opt['hf_model'] == DEFAULT_MODEL else PLAIN
    return Prompt(line_ends(template), delimiter=opt.get('delimiter', '\n'))
