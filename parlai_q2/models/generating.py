"""Encoder-decoders that transformers runs, by their own ``generate``."""

from collections.abc import Sequence
from typing import Any

from parlai_q2.models.batching import length_batches, length_step, padded
from parlai_q2.models.converted.seq2seq import Search
from parlai_q2.models.device import inference
from parlai_q2.models.loading import load_seq2seq


class HuggingFaceWriter:
    """
    An encoder-decoder of transformers.

    :param batch_size: the most inputs in a call.
    """

    def __init__(self, model: Any, tokenizer: Any, batch_size: int):
        self.model, self.tokenizer, self.batch_size = model, tokenizer, batch_size

    def write(
        self, prompts: Sequence[str], search: Search, most: int
    ) -> list[list[str]] | None:
        """
        What the model writes for each prompt, best first; None if it computes values
        that are not numbers.

        :param most: the most tokens of a prompt, the end token included.
        """
        tokenizer, inputs = self.tokenizer, self.inputs(prompts, most)
        step = length_step(str(self.model.device))
        texts_per_prompt: list[list[str]] = [[] for _ in inputs]
        lengths = [len(ids) for ids in inputs]
        for batch in length_batches(lengths, self.batch_size, step):
            rows = self._generate([inputs[i] for i in batch], search, step)
            if rows is None:
                return None
            texts = iter(tokenizer.batch_decode(rows, skip_special_tokens=True))
            for i in batch:
                texts_per_prompt[i] = [
                    next(texts) for _ in range(search.num_return_sequences)
                ]
        return texts_per_prompt

    def inputs(self, prompts: Sequence[str], most: int) -> list[list[int]]:
        """The ids of prompts, each of at most this many tokens."""
        # Not verbose: prompts are cut here, so a warning of their length is irrelevant.
        encoded = self.tokenizer(list(prompts), add_special_tokens=False, verbose=False)
        # Every prompt ends with one end token. The authors' prompt carries a literal
        # "</s>", and their tokenizer (transformers 3.2.0, T5Tokenizer) adds none then.
        end = self.tokenizer.eos_token_id
        return [[*ids[: most - 1], end] for ids in encoded['input_ids']]

    def _generate(
        self, rows: Sequence[list[int]], search: Search, step: int
    ) -> list[list[int]] | None:
        device, wrong = self.model.device, []

        def looked_at(_: Any, scores: Any) -> Any:
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
        return None if wrong else output.tolist()


def load_writer(
    reference: str, device: str, revision: str | None, batch_size: int
) -> HuggingFaceWriter:
    """Load an encoder-decoder for transformers; errors as those of ``load_seq2seq``."""
    model, tokenizer = load_seq2seq(reference, device, revision)
    return HuggingFaceWriter(model, tokenizer, batch_size)
