"""
Converted encoder-decoders: beam search by the library, in calls of inputs of the same
length, several side by side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from parlai_q2.models.batching import equal_batches
from parlai_q2.models.converted.folder import Converted
from parlai_q2.models.converted.library import most_at_once, open_model, workers_for
from parlai_q2.models.folder import blaming
from parlai_q2.models.tokens import Tokens


@dataclass(frozen=True)
class Search:
    """
    How to search; the names are those of transformers' ``GenerationConfig``.

    :param num_beams: K, at least 1; 1 is greedy search.
    :param num_return_sequences: at most K.
    :param no_repeat_ngram_size: no n-gram of this size may occur twice; 0 for no limit.
    """

    num_beams: int = 5
    num_return_sequences: int = 5
    max_new_tokens: int = 40
    no_repeat_ngram_size: int = 0

    @property
    def options(self) -> dict[str, Any]:
        """As arguments of the library."""
        return {
            'beam_size': self.num_beams,
            'num_hypotheses': self.num_return_sequences,
            'max_decoding_length': self.max_new_tokens,
            'no_repeat_ngram_size': self.no_repeat_ngram_size,
            'max_input_length': 0,
            'return_scores': True,
        }


class ConvertedSeq2Seq:
    """
    An encoder-decoder that CTranslate2 runs.

    :param tokens: its tokenizer, which must have the words that it writes.
    :param batch_size: the most inputs in a call.
    """

    def __init__(
        self,
        converted: Converted,
        tokens: Tokens,
        device: str,
        compute_type: str,
        batch_size: int,
    ):
        self.tokens, self.place, self.batch_size = (
            tokens,
            converted.place,
            most_at_once(batch_size, device, compute_type),
        )
        self.workers = workers_for(device)
        self.translator = open_model(
            'Translator', converted, device, compute_type, self.workers
        )
        self.adds_end = bool(converted.config.get('add_source_eos'))
        self.end = str(converted.config.get('eos_token'))

    def write(
        self, prompts: Sequence[str], search: Search, most: int
    ) -> list[list[str]] | None:
        """
        What the model writes for each prompt, best first; None if it computes values
        that are not numbers.

        :param most: the most tokens of a prompt, the end token included.
        """
        inputs = [
            [self.tokens.word(n) for n in ids[: most - 1]]
            + ([] if self.adds_end else [self.end])
            for ids in self.tokens.each(prompts)
        ]
        lengths = [len(tokens) for tokens in inputs]
        under_way: list[Any] = []
        for batch in equal_batches(lengths, self.batch_size, self.workers):
            rows = [inputs[i] for i in batch]
            futures = self.translator.translate_batch(
                rows, asynchronous=True, **search.options
            )
            under_way += zip(batch, futures, strict=True)
        hypotheses: list[list[list[str]]] = [[] for _ in inputs]
        for i, future in under_way:
            with blaming(self.place):
                result = future.result()
            if not all(map(math.isfinite, result.scores)):
                return None
            hypotheses[i] = result.hypotheses
        ids: list[list[int]] = []
        for words in chain.from_iterable(hypotheses):
            numbers = map(self.tokens.id_of, words)
            ids.append([number for number in numbers if number is not None])
        texts = iter(self.tokens.decode(ids))
        return [[*islice(texts, len(of_input))] for of_input in hypotheses]
