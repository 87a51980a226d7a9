"""
Trains encoder-decoders: question generation and grounded replies.

Prompt and output both end with the end token, which the shipped tokenizers do not add.
The loss is the mean negative log-likelihood of a token.
"""

from typing import Any, Callable, Sequence

import torch

from parlai_q2.models.prompts import question_prompt
from parlai_q2.zoo.train.data import moved, padded
from parlai_q2.zoo.train.whole_model import WholeModel

VALID_BATCH = 32
MAX_PROMPT, MAX_OUTPUT = 160, 64  # tokens, the end token included
Pair = tuple[list[int], list[int]]

# For each kind of row, the functions that give its prompt and its output.
QUESTIONS: tuple[Callable, Callable] = (
    lambda row: question_prompt(row['a'], row['c']),
    lambda row: row['q'],
)


class TextJob(WholeModel):
    """
    Trains an encoder-decoder.

    :param sides: two functions that give a row's prompt and its output.
    :param max_prompt: the maximum number of tokens in a prompt, end token included.
    :param max_output: the same for an output.
    """

    auto_class = 'AutoModelForSeq2SeqLM'

    def __init__(
        self,
        tokenizer: Any,
        sides: tuple[Callable, Callable] = QUESTIONS,
        max_prompt: int = MAX_PROMPT,
        max_output: int = MAX_OUTPUT,
    ):
        self.tokenizer, self.sides = tokenizer, sides
        self.max_prompt, self.max_output = max_prompt, max_output
        self.valid: list[Pair] = []

    def encode(self, rows: Sequence[dict[str, Any]]) -> list[Pair]:
        if not rows:
            return []
        read, write = self.sides
        return list(
            zip(
                self._ids([read(row) for row in rows], self.max_prompt),
                self._ids([write(row) for row in rows], self.max_output),
                strict=True,
            )
        )

    def length(self, sample: Pair) -> int:
        return len(sample[0])

    def collate(self, batch: Sequence[Pair]) -> dict[str, torch.Tensor]:
        pad = self.tokenizer.pad_token_id
        inputs = padded([prompt for prompt, _ in batch], pad)
        return {
            'input_ids': inputs,
            'attention_mask': (inputs != pad).long(),
            'labels': padded([output for _, output in batch], -100),
        }

    def loss(self, model: Any, tensors: dict[str, torch.Tensor]) -> torch.Tensor:
        return model(**tensors).loss

    def validate(self, model: Any, device: str) -> dict[str, float]:
        """
        The loss of the held-out pairs as ``valid``, in nats for each token, and its
        negative as ``score``; empty where there are none.
        """
        total = tokens = 0.0
        for k in range(0, len(self.valid), VALID_BATCH):
            tensors = moved(self.collate(self.valid[k : k + VALID_BATCH]), device)
            count = int((tensors['labels'] != -100).sum())
            with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
                total += self.loss(model, tensors).item() * count
            tokens += count
        return {'valid': total / tokens, 'score': -total / tokens} if tokens else {}

    def _ids(self, texts: list[str], most: int) -> list[list[int]]:
        ids = self.tokenizer(texts, add_special_tokens=False)['input_ids']
        return [i[: most - 1] + [self.tokenizer.eos_token_id] for i in ids]
