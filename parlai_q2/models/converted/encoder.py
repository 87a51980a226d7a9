"""
Converted encoders: the library gives hidden states, numpy the outputs on top of them.

Inputs share a call only with inputs of the same length. Padding would change the last
bits of what an input gives, depending on what it is padded to.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.batching import equal_batches
from parlai_q2.models.converted.folder import MODEL, Converted
from parlai_q2.models.converted.library import (
    ComputeType,
    fit_16_bits,
    most_at_once,
    open_model,
    workers_for,
)
from parlai_q2.models.folder import blaming
from parlai_q2.models.gpu import in_halves

if TYPE_CHECKING:
    from tokenizers import Encoding

MPNET = 'mpnet'
# The most tokens of a call on a CPU: more are no faster, since what is computed for
# them does not stay in a core's cache, and take more memory.
MOST_TOKENS = 256


class ConvertedEncoder:
    """
    A classifier, a question answerer, or an encoder of texts that CTranslate2 runs.

    :param batch_size: the most inputs in a call.
    """

    def __init__(
        self, converted: Converted, device: str, compute_type: str, batch_size: int
    ):
        self.config = converted.config
        self.place, self.batch_size = (
            converted.place,
            most_at_once(batch_size, device, compute_type),
        )
        self.head = converted.head
        self.workers = workers_for(device)
        if compute_type == ComputeType.INT8:
            converted = replace(converted, model=fit_16_bits(converted.model))
        self.encoder = open_model(
            'Encoder', converted, device, compute_type, self.workers
        )
        self.on_gpu = not device.startswith('cpu')
        self.words, self.kinds, self.most = converted.rows()
        # MPNet's second table has positions, of which the first are those of padding
        # and what is before it.
        self.first: int | None = None
        if self.config.get('model_type') == MPNET:
            self.first = (self.config.get('pad_token_id') or 0) + 1
            self.most = self.kinds - self.first

    def classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of a classifier, [classes] for each input."""
        self._check_head()
        return self._each(inputs, self._classes)

    def spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of starts and ends of answers, [L, 2] for each input."""
        self._check_head()
        return self._each(inputs, self._spans)

    def means(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The mean of the last hidden states, [M], of each input."""
        return self._each(inputs, self._means)

    def _check_head(self) -> None:
        if not self.head:
            raise ModelError(
                f'{self.place} gives vectors of texts, and neither classes nor answers.'
            )

    def _each(self, inputs: Sequence['Encoding'], read: Any) -> list[np.ndarray]:
        longest = max((len(item.ids) for item in inputs), default=0)
        if longest > self.most:
            raise ConfigError(
                f'{self.place} reads at most {self.most} tokens at once, but was given '
                f'{longest}. Set "max_tokens" in its section of the preset to '
                f'{self.most} or less.'
            )
        for item in inputs:
            self._check(item)
        lengths = [len(item.ids) for item in inputs]
        most = None if self.on_gpu else MOST_TOKENS
        batches = equal_batches(lengths, self.batch_size, self.workers, most)
        rows = [[inputs[i] for i in batch] for batch in batches]
        if self.workers > 1 and len(rows) > 1:
            with ThreadPoolExecutor(self.workers) as threads:
                outputs_per_batch = list(threads.map(read, rows))
        else:
            outputs_per_batch = [in_halves(read, batch, self) for batch in rows]
        results: list[Any] = [None] * len(inputs)
        for batch, outputs in zip(batches, outputs_per_batch, strict=True):
            for i, output in zip(batch, outputs, strict=True):
                results[i] = output
        return results

    def _check(self, item: 'Encoding') -> None:
        # The library looks up whatever it is given.
        kinds = 0 if self.first is not None else max(item.type_ids, default=0)
        if max(item.ids, default=0) >= self.words or kinds >= max(1, self.kinds):
            raise ModelError(
                f'The tokenizer in {self.place} belongs to another model: it gives '
                f'tokens that {MODEL} has no row for.'
            )

    def _classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        pooled = self._array(self._forward(inputs).pooler_output)  # [B, M]
        return [self._output(row) for row in pooled]

    def _spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        hidden = self._array(self._forward(inputs).last_hidden_state)  # [B, L, M]
        return [self._output(rows) for rows in hidden]

    def _means(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        hidden = self._array(self._forward(inputs).last_hidden_state)  # [B, L, M]
        return list(hidden.mean(1))

    def _forward(self, inputs: Sequence['Encoding']) -> Any:
        ids = [item.ids for item in inputs]
        if self.first is None:
            kinds = [item.type_ids for item in inputs]
        else:
            places = list(range(self.first, self.first + len(ids[0])))
            kinds = [places] * len(ids)
        with blaming(self.place):
            return self.encoder.forward_batch(ids, token_type_ids=kinds)

    def _array(self, view: Any) -> np.ndarray:
        if self.on_gpu:
            import ctranslate2

            view = view.to_device(ctranslate2.Device.cpu)
        return np.array(view).astype(np.float32, copy=False)

    def _output(self, hidden: np.ndarray) -> np.ndarray:
        """[..., M] to [..., outputs]: no product of matrices, which would depend on
        the number of rows and of threads in its last bits."""
        products = hidden[..., None, :] * self.head['weight']
        logits: np.ndarray = products.sum(-1) + self.head['bias']
        return logits
