"""
Makes a Hugging Face tokenizer a ParlAI dictionary, and loads and saves the model beside
it: from the folder beside the model file (:mod:`parlai_q2.parlai.model_files`), or else
from ``--hf-model``.

ParlAI puts a start token before the decoder's input and an end token (``eos_token``)
after its output. The start token is ``bos_token``, or ``pad_token`` where there is none
(T5). ParlAI's search needs it to differ from the end token, so it is a placeholder: the
model replaces it with the token it was trained to start with
(``decoder_start_token_id``: padding for T5, the end token for BART).
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from parlai.agents.hugging_face.dict import HuggingFaceDictionaryAgent
from parlai.core.opt import Opt
from parlai.utils.typing import TShared

from parlai_q2.errors import ModelError
from parlai_q2.models.loading import NO_CODE, load_seq2seq, load_tokenizer
from parlai_q2.options import Options
from parlai_q2.parlai.model_files import SUFFIX, saved_folder

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def load_network(opt: Options) -> 'PreTrainedModel':
    """
    The Hugging Face model in fp32, ready for training; its weights are random where
    ParlAI will read them from a model file.
    """
    folder = saved_folder(opt)
    if folder is None:
        model, _ = load_seq2seq(opt['hf_model'])
    else:
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, GenerationConfig

        config = AutoConfig.from_pretrained(folder, **NO_CODE)
        model = AutoModelForSeq2SeqLM.from_config(config)
        model.generation_config = GenerationConfig.from_pretrained(folder)
    return model.float().requires_grad_(True)


def load_hf_tokenizer(opt: Options) -> 'PreTrainedTokenizerBase':
    folder = saved_folder(opt)
    return load_tokenizer(opt['hf_model'] if folder is None else str(folder))


def save_folder(
    model_file: str, model: 'PreTrainedModel', tokenizer: 'PreTrainedTokenizerBase'
) -> None:
    folder = model_file + SUFFIX
    model.config.save_pretrained(folder)
    model.generation_config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


# A word that tokenizers keep whole; it shows what they put around a text.
PROBE = 'a'


class HfSeq2seqDictionaryAgent(HuggingFaceDictionaryAgent):
    add_special_tokens = False
    skip_decode_special_tokens = False

    def __init__(self, opt: Opt, shared: TShared | None = None):
        super().__init__(opt, shared)
        self.additional_special_tokens: list[str] = []
        self._around_text = self._frame('text')
        self._around_label = self._frame('text_target')

    def get_tokenizer(self, opt: Opt) -> 'PreTrainedTokenizerBase':
        return load_hf_tokenizer(opt)

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
        The text of a token sequence, without the tokenizer's own special tokens but
        with those of ``--special-tok-lst``.
        """
        tokenizer = self.hf_tokenizer
        added = set(tokenizer.convert_tokens_to_ids(self.additional_special_tokens))
        hidden = set(tokenizer.all_special_ids) - added
        ids = [int(i) for i in vec]
        return str(tokenizer.decode([i for i in ids if i not in hidden]))

    def encode_text(self, text: str) -> list[int]:
        """
        The encoder's input: the tokens and those that the tokenizer puts around them.
        The last one is the end token, even where the tokenizer adds none.
        """
        before, after = self._around_text
        token_ids: list[int] = before + self.txt2vec(text) + after
        return token_ids

    def frame_label(self, vec: list[int]) -> list[int]:
        """The decoder's target: a label's tokens and those that go around them."""
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
    """The special tokens beside those with a role; transformers 5 renames them."""
    for name in ('extra_special_tokens', 'additional_special_tokens'):
        tokens = getattr(tokenizer, name, None)
        if isinstance(tokens, (list, tuple)):
            return [str(token) for token in tokens]
    return []
