"""
A ParlAI generator around any Hugging Face encoder-decoder (T5, BART and the like).

``--prompt-template`` determines how the turn's knowledge and the dialogue become the
encoder's text. Everything else is TorchGeneratorAgent's: training, beam search and
sampling, metrics, saving.

The configuration and the tokenizer are in the folder beside the model file
(:mod:`parlai_q2.parlai.model_files`), or else those of ``--hf-model``.
"""

import copy
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from parlai.agents.hugging_face.dict import HuggingFaceDictionaryAgent
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.agents.hf_seq2seq.modules import HfSeq2seqModel, load_hf_model
from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.generate.generator import REPLY_OPTIONS
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.models.loading import load_tokenizer
from parlai_q2.models.prompts import PLAIN, REPLY, Prompt, fit
from parlai_q2.options import Options, StoreAndCallAction, line_ends
from parlai_q2.parlai.generator import GroundedHistory
from parlai_q2.parlai.model_files import (
    SUFFIX,
    WeightsOnly,
    expect_no_model_file,
    readable,
    saved_folder,
    saved_opt,
)

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

DEFAULT_MODEL = 'shipped:q2_mini/reply'

# ParlAI's own decoding, the default for other models. Lengths are in tokens.
PARLAI_DECODING = {
    'inference': 'greedy',
    'beam_size': 1,
    'beam_min_length': 1,
    'beam_block_ngram': -1,
    'text_truncate': None,
    'label_truncate': None,
}
# A word that tokenizers do not split; it shows which tokens they put around a text.
PROBE = 'a'


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
        action=StoreAndCallAction,
        call=lambda parser, opt: parser.set_defaults(**decoding(opt['hf_model'])),
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
    Return ``hf_model`` and ``prompt_template`` of ``--init-model``, whose weights
    expect that prompt; empty if training does not start from a saved model of this
    agent.
    """
    model_file, beside = opt.get('model_file'), saved_opt(opt, 'init_model')
    if not beside or (model_file and Path(model_file).exists()):
        return {}
    saved = Opt.load(beside)
    if not saved.get('hf_model'):
        return {}
    return {name: saved.get(name) for name in ('hf_model', 'prompt_template')}


def decoding(hf_model: str) -> Options:
    return REPLY_OPTIONS if hf_model == DEFAULT_MODEL else PARLAI_DECODING


def prompt_from_opt(opt: Options) -> Prompt:
    template = opt.get('prompt_template')
    if template is None:
        template = REPLY if opt['hf_model'] == DEFAULT_MODEL else PLAIN
    return Prompt(line_ends(template), delimiter=opt.get('delimiter', '\n'))


class HfSeq2seqDictionaryAgent(HuggingFaceDictionaryAgent):
    """
    The Hugging Face tokenizer as a ParlAI dictionary.

    ParlAI puts a start token before the decoder's input and an end token
    (``eos_token``) after its output. The start token is ``bos_token``, or ``pad_token``
    where there is none (T5). ParlAI's search needs it to differ from the end token, so
    it is a placeholder: the model replaces it with the token it was trained to start
    with (``decoder_start_token_id``: padding for T5, the end token for BART).
    """

    add_special_tokens = False
    skip_decode_special_tokens = False

    def __init__(self, opt: Opt, shared: TShared | None = None):
        super().__init__(opt, shared)
        self.additional_special_tokens: list[str] = []
        self._around_text = self._frame('text')
        self._around_label = self._frame('text_target')

    def get_tokenizer(self, opt: Opt) -> 'PreTrainedTokenizerBase':
        return load_tokenizer(str(saved_folder(opt) or opt['hf_model']))

    def override_special_tokens(self, opt: Opt) -> None:
        tokenizer = self.hf_tokenizer
        for name in ('pad_token', 'eos_token'):
            if getattr(tokenizer, name) is None:
                raise ModelError(
                    f'The tokenizer of {opt.get("hf_model")!r} has no {name}. Set '
                    f'tokenizer.{name} to one of its tokens and save it again with '
                    'save_pretrained.'
                )
        self.null_token, self.end_token = tokenizer.pad_token, tokenizer.eos_token
        self.start_token = tokenizer.bos_token
        if self.start_token in (None, self.end_token):
            self.start_token = self.null_token
        self.unk_token = tokenizer.unk_token or self.null_token

    def add_additional_special_tokens(
        self, additional_special_tokens: list[str]
    ) -> None:
        """
        Add tokens that must not be split; the agent makes room for them in the model.
        """
        self.additional_special_tokens = additional_special_tokens
        self.hf_tokenizer.add_special_tokens(
            {
                'additional_special_tokens': [
                    *_extra(self.hf_tokenizer),
                    *additional_special_tokens,
                ]
            }
        )
        for token in additional_special_tokens:
            index = self.hf_tokenizer.convert_tokens_to_ids(token)
            self.tok2ind[token], self.ind2tok[index] = index, token
            self.freq[token] = 1

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        if self.lower:
            text = text.lower()
        return vec_type(
            self.hf_tokenizer.encode(text, add_special_tokens=False, verbose=False)
        )

    def vec2txt(self, vec: Iterable[int], **kwargs: object) -> str:
        """
        Decode a token sequence, without the tokenizer's own special tokens but with
        those of ``--special-tok-lst``.
        """
        tokenizer = self.hf_tokenizer
        added = set(tokenizer.convert_tokens_to_ids(self.additional_special_tokens))
        hidden = set(tokenizer.all_special_ids) - added
        ids = [int(i) for i in vec]
        return str(tokenizer.decode([i for i in ids if i not in hidden]))

    def encode_text(self, text: str) -> list[int]:
        """
        The encoder's input: a text's tokens with the special tokens around them. The
        last one is the end token, even where the tokenizer adds none.
        """
        before, after = self._around_text
        token_ids: list[int] = before + self.txt2vec(text) + after
        return token_ids

    def frame_label(self, vec: list[int]) -> list[int]:
        """
        The decoder's target: a label's tokens with the special tokens around them.
        """
        before, after = self._around_label
        return before + vec + after

    def _frame(self, kind: str) -> tuple[list[int], list[int]]:
        tokenizer, end = self.hf_tokenizer, self.hf_tokenizer.eos_token_id
        plain = tokenizer(**{kind: PROBE}, add_special_tokens=False)['input_ids']
        full = tokenizer(**{kind: PROBE})['input_ids']
        starts = range(len(full) - len(plain) + 1)
        at = next(i for i in starts if full[i : i + len(plain)] == plain)
        before, after = full[:at], full[at + len(plain) :]
        return before, after if end in after else [*after, end]


def _extra(tokenizer: object) -> list[str]:
    """Return the special tokens without a role; transformers 5 renames them."""
    for name in ('extra_special_tokens', 'additional_special_tokens'):
        tokens = getattr(tokenizer, name, None)
        if isinstance(tokens, (list, tuple)):
            return [str(token) for token in tokens]
    return []


class HfSeq2seqAgent(WeightsOnly, TorchGeneratorAgent):
    """Trains and generates with a Hugging Face encoder-decoder."""

    # ParlAI's own.
    model: Any
    text_truncate: int | None
    label_truncate: int | None

    @classmethod
    def add_cmdline_args(
        cls, parser: ParlaiParser, partial_opt: Opt | None = None
    ) -> ParlaiParser:
        super().add_cmdline_args(parser, partial_opt=partial_opt)
        return add_options(parser, partial_opt)

    @staticmethod
    def dictionary_class() -> type[HfSeq2seqDictionaryAgent]:
        return HfSeq2seqDictionaryAgent

    @classmethod
    def history_class(cls) -> type[GroundedHistory]:
        return GroundedHistory

    def __init__(self, opt: Opt, shared: TShared | None = None):
        if opt.get('history_reversed'):
            raise ConfigError('HfSeq2seqAgent has no --history-reversed. Leave it out.')
        if opt.get('inference') == 'greedy' and opt.get('beam_size') != 1:
            # Greedy search has one beam, whatever the default for beam search is.
            opt = copy.deepcopy(opt)
            opt['beam_size'] = 1
        self.prompt = prompt_from_opt(opt)
        expect_no_model_file(opt)
        super().__init__(opt, shared)
        config = self.hf_model.config
        self.text_truncate = _at_most(
            self.text_truncate, config, 'max_encoder_position_embeddings'
        )
        self.label_truncate = _at_most(
            self.label_truncate, config, 'max_decoder_position_embeddings'
        )

    def build_model(self) -> HfSeq2seqModel:
        hf = load_hf_model(self.opt)
        if len(self.dict.hf_tokenizer) > hf.get_input_embeddings().num_embeddings:
            hf.resize_token_embeddings(len(self.dict.hf_tokenizer))
        return HfSeq2seqModel(hf, self.dict)

    def _get_special_tokens(self) -> list[str]:
        tokens: list[str] = super()._get_special_tokens()
        if self.opt.get('person_tokens'):
            tokens = [*tokens, self.P1_TOKEN, self.P2_TOKEN]
        return tokens

    def save(self, path: str | None = None) -> None:
        """Save weights and options, and the configuration and tokenizer beside them."""
        super().save(path)
        path = path or self.opt.get('model_file')
        if path:
            for part in (
                self.hf_model.config,
                self.hf_model.generation_config,
                self.dict.hf_tokenizer,
            ):
                part.save_pretrained(path + SUFFIX)

    def observe(self, observation: Message) -> Message:
        return super().observe(readable(observation))

    def _set_text_vec(
        self, obs: Message, history: History, truncate: int | None
    ) -> Message:
        if 'text_vec' in obs:
            return super()._set_text_vec(obs, history, truncate)
        knowledge = find_knowledge(obs) or ''
        if 'text' not in obs and not knowledge:
            return obs
        turns = history.turns(with_knowledge=self.prompt.is_plain)
        fitted = fit(self.prompt.render, turns, knowledge, self._count, truncate)
        if fitted.knowledge_cut and self.prompt.has_knowledge:
            warn_once(
                f'Knowledge that does not fit --text-truncate {truncate} was cut at '
                'its end. Give a higher --text-truncate or shorter knowledge.'
            )
        tokens = self.dict.encode_text(fitted.text)
        tokens = self._check_truncate(tokens, truncate, True)
        obs.force_set('full_text', history.get_history_str() or '')
        obs.force_set('full_text_vec', history.get_history_vec() or [])
        obs.force_set('text_vec', torch.LongTensor(tokens))
        obs.force_set('context_original_length', fitted.length)
        obs.force_set('context_truncate_rate', fitted.length != len(tokens))
        obs.force_set('context_truncated_length', fitted.length - len(tokens))
        return obs

    def _count(self, text: str) -> int:
        return len(self.dict.encode_text(text))

    def _add_start_end_tokens(
        self, vec: list[int], add_start: bool = False, add_end: bool = False
    ) -> list[int]:
        return self.dict.frame_label(vec) if add_end else vec

    def get_prefix_tokens(self, batch: Batch) -> torch.Tensor | None:
        """
        Return the token that each output begins with, if the configuration names one.

        :return: [B, 1], or None.
        """
        forced = getattr(self.hf_model.generation_config, 'forced_bos_token_id', None)
        if forced is None:
            return None
        return torch.full((batch.batchsize, 1), forced, device=batch.text_vec.device)


def _at_most(limit: int | None, config: object, name: str) -> int | None:
    # Models with learned positions cannot read past the last one; T5 has no such limit.
    ends = (getattr(config, n, None) for n in (name, 'max_position_embeddings'))
    return min(filter(None, (limit, *ends)), default=None)
