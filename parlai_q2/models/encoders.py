"""
Encoders that read pairs of texts: classifiers and question answerers, run by
CTranslate2 if they are converted, else by transformers.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from parlai_q2.models.batching import length_batches, length_step, padded
from parlai_q2.models.device import check_device, inference
from parlai_q2.models.gpu import in_halves
from parlai_q2.models.loading import check_available, load_model, load_tokenizer
from parlai_q2.models.tokens import Tokens

if TYPE_CHECKING:
    from tokenizers import Encoding

CLASSES, SPANS = 'AutoModelForSequenceClassification', 'AutoModelForQuestionAnswering'
# Which of a pair's texts a token is of.
SEGMENTS = 'token_type_ids'


class PairEncoder(Protocol):
    """An encoder: a model, and its configuration as a mapping or an object."""

    config: Any

    def classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of a classifier, [classes] for each input."""

    def spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of starts and ends of answers, [L, 2] for each input."""


class HuggingFaceEncoder:
    """
    A classifier or question answerer that transformers runs.

    :param inputs: the names of what it reads.
    :param batch_size: the most inputs in a call.
    """

    def __init__(
        self, model: Any, inputs: Sequence[str], padding: int, batch_size: int
    ):
        self.model, self.config = model, model.config
        self.inputs, self.padding, self.batch_size = inputs, padding, batch_size

    def classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        return self._each(inputs)

    def spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        logits = self._each(inputs)
        return [row[: len(item.ids)] for row, item in zip(logits, inputs, strict=True)]

    def _each(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        step = length_step(str(self.model.device))
        results: list[Any] = [None] * len(inputs)
        lengths = [len(item.ids) for item in inputs]
        for batch in length_batches(lengths, self.batch_size, step):
            with inference(self.model.device):
                read = partial(self._read, step=step)
                rows = in_halves(read, [inputs[i] for i in batch], self)
            for i, row in zip(batch, rows, strict=True):
                results[i] = row
        return results

    def _read(self, inputs: Sequence['Encoding'], step: int) -> list[np.ndarray]:
        fields = {
            'input_ids': ([item.ids for item in inputs], self.padding),
            SEGMENTS: ([item.type_ids for item in inputs], 0),
            'attention_mask': ([item.attention_mask for item in inputs], 0),
        }
        device = self.model.device
        tensors = {
            name: padded(rows, value, step).to(device)
            for name, (rows, value) in fields.items()
            if name in self.inputs
        }
        output = self.model(**tensors)
        if 'start_logits' in output:
            import torch

            logits = torch.stack([output.start_logits, output.end_logits], -1)
        else:
            logits = output.logits
        return list(logits.float().cpu().numpy())


def load_hugging_face(
    reference: str,
    auto_class: str,
    device: str = 'cpu',
    revision: str | None = None,
    batch_size: int = 32,
) -> tuple[PairEncoder, Tokens]:
    """
    Load an encoder for transformers, and its tokenizer.

    :param auto_class: the name of one of transformers' ``AutoModelFor...`` classes.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if its files cannot be read or do not fit.
    """
    check_device(device)
    check_available(reference)
    import transformers

    kind = getattr(transformers, auto_class)
    model = load_model(reference, kind, device, revision)
    tokenizer = load_tokenizer(reference, revision)
    tokens = Tokens.of_transformers(tokenizer, reference)
    padding = tokenizer.pad_token_id or 0
    inputs = {*tokens.inputs, *([SEGMENTS] if reads_segments(model) else [])}
    return HuggingFaceEncoder(model, sorted(inputs), padding, batch_size), tokens


def reads_segments(model: Any) -> bool:
    """
    Whether a model of transformers tells the two texts of a pair apart by ``SEGMENTS``.
    The model says so: some tokenizers of transformers 5 leave them out for any model.
    """
    return getattr(model.config, 'type_vocab_size', None) not in (None, 0, 1)
