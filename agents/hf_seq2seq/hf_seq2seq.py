"""
A ParlAI generator around any Hugging Face encoder-decoder (T5, BART and the like).

``--prompt-template`` determines how the turn's knowledge and the dialogue become the
encoder's text. Everything else is TorchGeneratorAgent's: training, beam search and
sampling, metrics, saving.
"""

import copy
from typing import Any

import torch
from parlai.core.message import Message
from parlai.core.opt import Opt
from parlai.core.params import ParlaiParser
from parlai.core.torch_agent import Batch, History
from parlai.core.torch_generator_agent import TorchGeneratorAgent
from parlai.utils.misc import warn_once
from parlai.utils.typing import TShared

from parlai_q2.agents.hf_seq2seq.dictionary import (
    HfSeq2seqDictionaryAgent,
    load_network,
    save_folder,
)
from parlai_q2.agents.hf_seq2seq.modules import HfSeq2seqModel
from parlai_q2.agents.hf_seq2seq.options import add_options, prompt_from_opt
from parlai_q2.errors import ConfigError
from parlai_q2.io.knowledge import find_knowledge
from parlai_q2.models.prompts import fit
from parlai_q2.parlai.generator import GroundedHistory
from parlai_q2.parlai.model_files import WeightsOnly, expect_no_model_file, readable


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
        config = self.network.config
        self.text_truncate = _at_most(
            self.text_truncate, config, 'max_encoder_position_embeddings'
        )
        self.label_truncate = _at_most(
            self.label_truncate, config, 'max_decoder_position_embeddings'
        )

    @property
    def network(self) -> Any:
        """The Hugging Face model."""
        # Data-parallel training wraps the model in another.
        return getattr(self.model, 'module', self.model).hf

    def build_model(self) -> HfSeq2seqModel:
        hf = load_network(self.opt)
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
            save_folder(path, self.network, self.dict.hf_tokenizer)

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
        fitted = fit(self.prompt, turns, knowledge, self._count, truncate)
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
        The token that each output begins with, if the model's configuration names one.

        :return: [B, 1], or None.
        """
        forced = getattr(self.network.generation_config, 'forced_bos_token_id', None)
        if forced is None:
            return None
        return torch.full((batch.batchsize, 1), forced, device=batch.text_vec.device)


def _at_most(limit: int | None, config: object, name: str) -> int | None:
    # Models with learned positions cannot read past the last one; T5 has no such limit.
    ends = (getattr(config, n, None) for n in (name, 'max_position_embeddings'))
    return min(filter(None, (limit, *ends)), default=None)
