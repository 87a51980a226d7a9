"""Makes a classifier's Hugging Face tokenizer a ParlAI dictionary."""

from typing import Any

from parlai.agents.hugging_face.dict import HuggingFaceDictionaryAgent
from parlai.core.opt import Opt

from parlai_q2.agents.hf_classifier.options import classifier_config
from parlai_q2.errors import ModelError
from parlai_q2.models.loading import load_tokenizer
from parlai_q2.options import Options
from parlai_q2.parlai.model_files import saved_folder
from parlai_q2.presets import ModelConfig


class HfClassifierDictionaryAgent(HuggingFaceDictionaryAgent):
    """
    The dictionary of :class:`HfClassifierAgent`.

    ParlAI asks for a null, a start, an end and an unknown token; these are the
    tokenizer's padding, classification, separation and unknown tokens.
    """

    add_special_tokens = False
    skip_decode_special_tokens = True

    def get_tokenizer(self, opt: Opt) -> Any:
        return load_hf_tokenizer(opt, classifier_config(opt))

    def override_special_tokens(self, opt: Opt) -> None:
        tokenizer = self.hf_tokenizer
        if tokenizer.pad_token is None:
            raise ModelError(
                f'The tokenizer of {classifier_config(opt).model!r} has no pad_token. '
                'Set tokenizer.pad_token to one of its tokens and save it again with '
                'save_pretrained.'
            )
        self.null_token = tokenizer.pad_token
        self.start_token = tokenizer.cls_token or tokenizer.bos_token or self.null_token
        self.end_token = tokenizer.sep_token or tokenizer.eos_token or self.null_token
        self.unk_token = tokenizer.unk_token or self.null_token

    def txt2vec(self, text: str, vec_type: type = list) -> Any:
        return vec_type(
            self.hf_tokenizer.encode(text, add_special_tokens=False, verbose=False)
        )


def load_hf_tokenizer(opt: Options, config: ModelConfig) -> Any:
    folder = saved_folder(opt)
    if folder is not None:
        return load_tokenizer(str(folder))
    return load_tokenizer(config.model, config.revision)
