"""
Models that transformers runs: encoders, which read texts or pairs of texts, and
encoder-decoders, which write.
"""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from parlai_q2.models.batches import length_batches, length_step, padded, read_batches
from parlai_q2.models.converted.engine import GenerationSettings
from parlai_q2.models.device import check_device, inference
from parlai_q2.models.loading import (
    check_available,
    load_model,
    load_seq2seq,
    load_tokenizer,
)
from parlai_q2.models.tokens import Tokens
from parlai_q2.presets import ModelConfig

if TYPE_CHECKING:
    from tokenizers import Encoding
    from torch import Tensor
    from transformers import PreTrainedModel
    from transformers.utils import ModelOutput

# Inputs that say which text of a pair a token is in, and which tokens are no padding.
SEGMENTS, MASK = 'token_type_ids', 'attention_mask'


class HuggingFaceEncoder:
    """
    A classifier, a question answerer, or an encoder of texts that transformers runs.

    :param auto_class: the name of a class of transformers, such as
        ``AutoModelForQuestionAnswering``.
    :param batch_size: the most inputs in a call.
    :ivar tokens: its tokenizer.
    :ivar max_tokens: the most tokens that it can read.
    :ivar inputs: the names of what it reads.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if its files cannot be read or do not fit.
    """

    def __init__(
        self, config: ModelConfig, auto_class: str, device: str, batch_size: int
    ):
        check_device(device)
        check_available(config.model)
        import transformers

        model_class = getattr(transformers, auto_class)
        self.model = load_model(config.model, model_class, device, config.revision)
        tokenizer = load_tokenizer(config.model, config.revision)
        self.tokens = Tokens.of_transformers(tokenizer, config.model)
        self.config, self.batch_size = self.model.config.to_dict(), batch_size
        self.padding = tokenizer.pad_token_id or 0
        positions = self.config.get('max_position_embeddings')
        self.max_tokens = min(tokenizer.model_max_length, positions or sys.maxsize)
        segments = [SEGMENTS] if reads_segments(self.model) else []
        self.inputs = {*self.tokens.inputs, *segments}

    def classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of a classifier, [classes] for each input."""
        return self.read(inputs, lambda output, _: output.logits)

    def spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of starts and ends of answers, [L, 2] for each input."""
        logits = self.read(inputs, _join_logits)
        return [row[: len(item.ids)] for row, item in zip(logits, inputs, strict=True)]

    def read(
        self,
        inputs: Sequence['Encoding'],
        choose: 'Callable[[ModelOutput, Tensor], Tensor]',
    ) -> list[np.ndarray]:
        """
        Run the model on each input.

        :param choose: selects the result from the output for a batch, given the mask
            [B, L].
        """
        device = self.model.device
        step = length_step(str(device))

        def compute(batch: Sequence['Encoding']) -> list[np.ndarray]:
            rows = {
                'input_ids': padded([item.ids for item in batch], self.padding, step),
                SEGMENTS: padded([item.type_ids for item in batch], 0, step),
                MASK: padded([item.attention_mask for item in batch], 0, step),
            }
            tensors = {name: rows[name].to(device) for name in rows}
            read = {name: tensors[name] for name in tensors if name in self.inputs}
            chosen = choose(self.model(**read), tensors[MASK])
            return list(chosen.float().cpu().numpy())

        lengths = [len(item.ids) for item in inputs]
        batches = length_batches(lengths, self.batch_size, step)
        with inference(device):
            return read_batches(compute, inputs, batches, self)


def _join_logits(output: 'ModelOutput', _: 'Tensor') -> 'Tensor':
    import torch

    return torch.stack([output.start_logits, output.end_logits], -1)


def reads_segments(model: 'PreTrainedModel') -> bool:
    """
    Whether a transformers model tells the two texts of a pair apart by ``SEGMENTS``.
    The model decides: some tokenizers of transformers 5 never return segments.
    """
    return getattr(model.config, 'type_vocab_size', None) not in (None, 0, 1)


class HuggingFaceSeq2Seq:
    """
    An encoder-decoder of transformers.

    :param batch_size: the most inputs in a call.
    """

    def __init__(self, config: ModelConfig, device: str, batch_size: int):
        self.model, self.tokenizer = load_seq2seq(config.model, device, config.revision)
        self.batch_size = batch_size

    def generate(
        self, prompts: Sequence[str], search: GenerationSettings, max_tokens: int
    ) -> list[list[str] | None]:
        """As :meth:`~parlai_q2.models.converted.engine.ConvertedSeq2Seq.generate`."""
        inputs = self.inputs(prompts, max_tokens)
        lengths = [len(ids) for ids in inputs]
        step = length_step(str(self.model.device))
        batches = length_batches(lengths, self.batch_size, step)
        generate = partial(self._generate, search=search, step=step)
        return read_batches(generate, inputs, batches, self)

    def inputs(self, prompts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """The ids of prompts, each of at most this many tokens."""
        # Not verbose: prompts are cut here, so a warning of their length is irrelevant.
        encoded = self.tokenizer(list(prompts), add_special_tokens=False, verbose=False)
        # Every prompt ends with one end token. The authors' prompt has a literal
        # "</s>", and their tokenizer (transformers 3.2.0, T5Tokenizer) then adds none.
        end = self.tokenizer.eos_token_id
        return [[*ids[: max_tokens - 1], end] for ids in encoded['input_ids']]

    def _generate(
        self, rows: Sequence[list[int]], search: GenerationSettings, step: int
    ) -> list[list[str]] | list[None]:
        device, wrong = self.model.device, []

        def looked_at(_: 'Tensor', scores: 'Tensor') -> 'Tensor':
            if bool(scores.isnan().any()):
                wrong.append(True)
            return scores.nan_to_num()

        masks = [[1] * len(row) for row in rows]
        with inference(device):
            output = self.model.generate(
                padded(rows, self.tokenizer.pad_token_id, step).to(device),
                attention_mask=padded(masks, 0, step).to(device),
                num_beams=search.num_beams,
                num_return_sequences=search.num_return_sequences,
                no_repeat_ngram_size=search.no_repeat_ngram_size,
                early_stopping=search.num_beams > 1,
                max_new_tokens=search.max_new_tokens,
                do_sample=False,
                logits_processor=[looked_at],
            )
        if wrong:
            return [None] * len(rows)
        decoded = self.tokenizer.batch_decode(output.tolist(), skip_special_tokens=True)
        texts = iter(decoded)
        return [[*islice(texts, search.num_return_sequences)] for _ in rows]
