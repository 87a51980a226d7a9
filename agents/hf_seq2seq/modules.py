"""
A Hugging Face encoder-decoder behind ParlAI's generator interface.

The encoder runs once for a batch. The decoder keeps transformers' cache of past keys
and values, so each step reads one new token: ParlAI passes the whole sequence, but only
its last token is used. Shapes: B examples (times the beam), L tokens, V words.
"""

from inspect import signature
from typing import Any

import torch
from parlai.core.torch_generator_agent import TorchGeneratorModel
from torch import nn

from parlai_q2.models.loading import NO_CODE, load_seq2seq
from parlai_q2.options import Options
from parlai_q2.parlai.model_files import saved_folder

# Hidden states [B, L, H] and mask [B, L].
EncoderStates = tuple[torch.Tensor, torch.Tensor]


class HfSeq2seqModel(TorchGeneratorModel):
    """
    A model of transformers' ``AutoModelForSeq2SeqLM`` that ParlAI can train and search.
    """

    def __init__(self, hf: Any, dictionary: Any):
        roles = (dictionary.null_token, dictionary.start_token, dictionary.end_token)
        null, start, end = (dictionary[token] for token in roles)
        super().__init__(padding_idx=null, start_idx=start, end_idx=end)
        quicken_output(hf)
        self.hf = hf
        self._start = decoder_start(hf, start)
        # The name of the cache in a model's inputs and outputs; transformers 5 renamed
        # it.
        parameters = signature(hf.forward).parameters
        self._cache = 'cache' if 'cache' in parameters else 'past_key_values'

    def encoder(self, tokens: torch.Tensor) -> EncoderStates:
        """:param tokens: [B, L], padded on the right."""
        mask = tokens != self.NULL_IDX
        encoder = self.hf.get_encoder()
        return encoder(input_ids=tokens, attention_mask=mask.long())[0], mask

    def decoder(
        self,
        tokens: torch.Tensor,
        encoder_states: EncoderStates,
        incr_state: object = None,
        use_cache: bool = True,
    ) -> tuple[torch.Tensor, Any]:
        """
        :param tokens: [B, L], everything decoded so far, with ParlAI's start token.
        :param incr_state: the cache of the step before, or None.
        :return: logits [B, L, V], or [B, 1, V] with a cache, and the new cache.
        """
        from transformers.modeling_outputs import BaseModelOutput

        hidden, mask = encoder_states
        if incr_state is None:
            tokens = tokens.clone()
            tokens[:, 0] = self._start
        else:
            tokens = tokens[:, -1:]
        out = self.hf(
            encoder_outputs=BaseModelOutput(last_hidden_state=hidden),
            attention_mask=mask.long(),
            decoder_input_ids=tokens,
            use_cache=use_cache,
            **{self._cache: incr_state},
        )
        return out.logits, getattr(out, self._cache) if use_cache else None

    def output(self, decoded: torch.Tensor) -> torch.Tensor:
        return decoded

    def decode_forced(
        self, encoder_states: EncoderStates, ys: torch.LongTensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """
        Logits for known labels.

        :param ys: [B, L], with the end token and without the start token.
        :return: logits [B, L, V] and the most likely tokens [B, L].
        """
        inputs = self._get_initial_forced_decoder_input(ys.size(0), ys[:, :-1])
        logits, _ = self.decoder(inputs, encoder_states, use_cache=False)
        return logits, logits.argmax(2)

    def reorder_encoder_states(
        self, encoder_states: EncoderStates, indices: list[int] | torch.Tensor
    ) -> EncoderStates:
        device = encoder_states[0].device
        indices = torch.as_tensor(indices, dtype=torch.long, device=device)
        hidden, mask = encoder_states
        return hidden.index_select(0, indices), mask.index_select(0, indices)

    def reorder_decoder_incremental_state(
        self, incremental_state: Any, inds: torch.Tensor
    ) -> Any:
        """Select, repeat or reorder the rows of a cache, in place."""
        if incremental_state is not None:
            incremental_state.reorder_cache(inds)
        return incremental_state

    def half(self) -> 'HfSeq2seqModel':
        """Convert to fp16, except for the layers that would overflow (T5's ``wo``)."""
        super().half()
        kept_names = getattr(self.hf, '_keep_in_fp32_modules', None) or []
        for name, module in self.hf.named_modules():
            if name.rpartition('.')[2] in kept_names:
                module.float()
        return self


def decoder_start(hf: nn.Module, otherwise: int) -> int:
    """Return the token that a model's decoder was trained to start with."""
    for config in (getattr(hf, 'generation_config', None), hf.config):
        start: int | None = getattr(config, 'decoder_start_token_id', None)
        if start is not None:
            return start
    return otherwise


# A search reads as many rows as it has beams or samples. For two to eleven in fp32, on
# x86, multiplying the hidden states by tens of thousands of words takes up to four
# times as long as multiplying the words by the hidden states. The results are the same
# except for rounding.
FEW = range(2, 12)


class FewRowsLinear(nn.Linear):
    """A linear layer that computes the faster product when it reads only a few rows."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.shape[:-1].numel()
        if (
            rows not in FEW
            or torch.is_grad_enabled()
            or input.device.type != 'cpu'
            or input.dtype != torch.float32
            or self.weight.dtype != torch.float32
        ):
            return super().forward(input)
        out = (self.weight @ input.reshape(rows, -1).t()).t()
        if self.bias is not None:
            out = out + self.bias
        return out.reshape(*input.shape[:-1], -1)


def quicken_output(hf: Any) -> None:
    """Make a model's output layer a FewRowsLinear, if it is a plain linear layer."""
    layer = hf.get_output_embeddings()
    if type(layer) is nn.Linear:
        layer.__class__ = FewRowsLinear


def load_hf_model(opt: Options) -> Any:
    """
    Load a Hugging Face model in fp32, ready for training; its weights are random if
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
