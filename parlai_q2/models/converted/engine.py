"""
Opens converted models with CTranslate2, on as many cores as this process may use.

A worker computes on one thread, and there are as many workers as cores: a few large
calls side by side are faster than one call on all cores, and results do not depend on
the number of cores.
"""

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.batches import equal_batches, padded_length, read_batches
from parlai_q2.models.converted.binary import Model
from parlai_q2.models.converted.int8 import fit_16_bits
from parlai_q2.models.converted.reader import MODEL_FILE, Converted
from parlai_q2.models.device import is_cpu, load_cublas
from parlai_q2.models.model_files import as_model_error
from parlai_q2.models.tokens import read_tokens
from parlai_q2.options import Word
from parlai_q2.threads import cores, keep_freed_memory

if TYPE_CHECKING:
    from tokenizers import Encoding


_logger = logging.getLogger(__name__)


class ComputeType(Word):
    """The numeric types in which converted models compute."""

    AUTO = 'auto'  # the type that suits the device
    INT8 = 'int8'
    FLOAT16 = 'float16'
    FLOAT32 = 'float32'


@cache
def effective_type(
    compute_type: str, device: str, on_gpu: str = ComputeType.FLOAT16
) -> str:
    """
    Choose the type in which a converted model computes on a device: on a CPU int8.

    :param on_gpu: the type that suits the model on a GPU.
    :raises ConfigError: if it is not one of :class:`ComputeType`.
    """
    ComputeType.check('compute_type', compute_type)
    if compute_type == ComputeType.AUTO:
        compute_type = ComputeType.INT8 if is_cpu(device) else on_gpu
    import ctranslate2

    device_type, _, number = device.partition(':')
    try:
        supported = ctranslate2.get_supported_compute_types(
            device_type, int(number or 0)
        )
    except (RuntimeError, ValueError) as e:
        raise no_device(device, e) from e
    if compute_type not in supported:
        # This runs once for each device and type: the result is cached.
        _logger.warning(
            'This machine cannot compute in %s on %s; it computes in float32.',
            compute_type,
            device,
        )
        return ComputeType.FLOAT32
    return compute_type


def can_use(device: str) -> bool:
    """Whether the library can compute on a device."""
    device_type, _, number = device.partition(':')
    if device_type != 'cuda':
        return device_type == 'cpu'
    import ctranslate2

    return bool(int(number or 0) < ctranslate2.get_cuda_device_count())


def no_device(device: str, cause: Exception) -> ConfigError:
    """The error for a device that the library cannot use."""
    reason = ' '.join(str(cause).split())
    return ConfigError(
        f'CTranslate2, which runs the shipped models, cannot use {device!r}: {reason}. '
        'Give --scorer-device cpu, or see docs/performance.md.'
    )


def open_model(
    class_name: str, converted: Converted, device: str, compute_type: str, workers: int
) -> Any:
    """
    Load a model.

    :param class_name: a class of the library, ``Encoder`` or ``Translator``.
    :param compute_type: a type that the device supports.
    :param workers: the number of calls that are computed at once.
    :raises ModelError: if the library refuses the model.
    """
    import ctranslate2

    if is_cpu(device):
        keep_freed_memory()
    else:
        load_cublas()
    device_type, _, number = device.partition(':')
    try:
        return getattr(ctranslate2, class_name)(
            str(converted.place),
            device_type,
            device_index=int(number or 0),
            compute_type=str(compute_type),
            inter_threads=workers,
            intra_threads=1,
            max_queued_batches=-1,
            files=converted.files(),
        )
    except (RuntimeError, ValueError, TypeError) as e:
        if not is_cpu(device):
            raise no_device(device, e) from e
        reason = ' '.join(str(e).split())
        raise ModelError(f'CTranslate2 cannot load {converted.place}: {reason}') from e


MPNET = 'mpnet'
# An encoder's embeddings, [rows, M]: of words, of segments (BERT) or positions (MPNet),
# and of positions (BERT).
WORD_EMBEDDINGS = 'encoder/embeddings_0/weight'
SEGMENTS_OR_POSITIONS = 'encoder/embeddings_1/weight'
POSITIONS = 'encoder/position_encodings/encodings'
# The maximum number of tokens of a call on a CPU: more are not faster, because their
# intermediate results do not fit in a core's cache, and take more memory.
MAX_BATCH_TOKENS = 256
# In int8 on a CPU, inputs of these numbers of tokens are padded to a multiple of
# PADDING_STEP, so that they share calls, each of which costs as much as 20 tokens. The
# last bits depend on the padded length, which an input has alone and in every batch.
# Shorter inputs are multiplied in another way, and longer ones fill a call.
PADDED_LENGTHS, PADDING_STEP = range(16, 101), 10


class ConvertedModel:
    """
    A model that CTranslate2 runs.

    :param class_name: a class of the library, ``Encoder`` or ``Translator``.
    :param batch_size: the most inputs in a call.
    :ivar tokens: its tokenizer.
    """

    def __init__(
        self,
        class_name: str,
        converted: Converted,
        device: str,
        compute_type: str,
        batch_size: int,
    ):
        self.config, self.place = converted.config, converted.place
        self.tokens = read_tokens(converted.tokenizer)
        # In fp32, the last bits of a CPU's sums depend on the number of inputs.
        is_alone = is_cpu(device) and compute_type == ComputeType.FLOAT32
        self.batch_size = 1 if is_alone else batch_size
        self.workers = cores() if is_cpu(device) else 1
        self.model = open_model(
            class_name, converted, device, compute_type, self.workers
        )


class ConvertedEncoder(ConvertedModel):
    """
    A classifier, a question answerer, or an encoder of texts.

    :ivar head: ``weight`` [outputs, M] and ``bias`` [outputs] of its output layer;
        empty if it gives vectors.
    :ivar word_count: the number of token ids that it knows.
    :ivar segment_count: how many texts of an input BERT tells apart, at least 1.
    :ivar max_tokens: the most tokens that it can read.
    :ivar first_position: the position of an input's first token if CTranslate2 must be
        given positions (MPNet); None if it counts them itself.
    """

    def __init__(
        self, converted: Converted, device: str, compute_type: str, batch_size: int
    ):
        self.head = converted.head
        if compute_type == ComputeType.INT8:
            converted = replace(converted, model=fit_16_bits(converted.model))
        super().__init__('Encoder', converted, device, compute_type, batch_size)
        self.on_gpu = not is_cpu(device)
        is_padded = compute_type == ComputeType.INT8 and not self.on_gpu
        self.padded_lengths = PADDED_LENGTHS if is_padded else range(0)
        self.word_count = _count_rows(converted.model, WORD_EMBEDDINGS)
        self.segment_count = max(1, _count_rows(converted.model, SEGMENTS_OR_POSITIONS))
        self.max_tokens = _count_rows(converted.model, POSITIONS)
        self.first_position: int | None = None
        if self.config.get('model_type') == MPNET:
            # Lower positions are for padding and the indices below it.
            self.first_position = (self.config.get('pad_token_id') or 0) + 1
            positions = _count_rows(converted.model, SEGMENTS_OR_POSITIONS)
            self.max_tokens = positions - self.first_position

    def classes(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of a classifier, [classes] for each input."""
        return self._outputs(inputs, 'pooler_output')

    def spans(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The logits of starts and ends of answers, [L, 2] for each input."""
        return self._outputs(inputs, 'last_hidden_state')

    def means(self, inputs: Sequence['Encoding']) -> list[np.ndarray]:
        """The mean of the last hidden states, [M], of each input."""
        # Means over the tokens of hidden states [L, M].
        return self._read_in_batches(
            inputs,
            lambda batch: [h.mean(0) for h in self._run(batch, 'last_hidden_state')],
        )

    def _outputs(self, inputs: Sequence['Encoding'], hidden: str) -> list[np.ndarray]:
        """Apply the output layer to hidden states, [M] or [L, M] for each input."""
        if not self.head:
            raise ModelError(
                f'{self.place} gives vectors of texts, and neither classes nor answers.'
            )
        return self._read_in_batches(
            inputs,
            lambda batch: [self._output(states) for states in self._run(batch, hidden)],
        )

    def _read_in_batches(
        self,
        inputs: Sequence['Encoding'],
        read: Callable[[Sequence['Encoding']], list[np.ndarray]],
    ) -> list[np.ndarray]:
        """Call ``read`` for inputs of one length; return its result for each input."""
        longest = max(map(len, inputs), default=0)
        if longest > self.max_tokens:
            raise ConfigError(
                f'{self.place} reads at most {self.max_tokens} tokens at once, but was '
                f'given {longest}. Set "max_tokens" in its section of the preset to '
                f'{self.max_tokens} or less.'
            )
        self._check_ids(inputs)
        max_tokens = None if self.on_gpu else MAX_BATCH_TOKENS
        lengths = [self._padded_length(item) for item in inputs]
        batches = equal_batches(lengths, self.batch_size, self.workers, max_tokens)
        return read_batches(read, inputs, batches, self, self.workers)

    def _check_ids(self, inputs: Sequence['Encoding']) -> None:
        """Check that the tables have rows for all ids, as the library does not."""
        for item in inputs:
            has_word = max(item.ids, default=0) < self.word_count
            has_segment = (
                self.first_position is not None
                or max(item.type_ids, default=0) < self.segment_count
            )
            if not has_word or not has_segment:
                raise ModelError(
                    f'The tokenizer in {self.place} belongs to another model: it gives '
                    f'tokens that {MODEL_FILE} has no row for.'
                )

    def _padded_length(self, item: 'Encoding') -> int:
        if len(item) not in self.padded_lengths:
            return len(item)
        return min(padded_length(len(item), PADDING_STEP), self.max_tokens)

    def _run(self, inputs: Sequence['Encoding'], hidden: str) -> list[np.ndarray]:
        """
        Run a batch of one padded length.

        :param hidden: the name of an output.
        :return: its hidden states for each input, [M] or [L, M] without padding.
        """
        from ctranslate2 import StorageView

        lengths = [len(item) for item in inputs]
        ids = np.zeros((len(inputs), self._padded_length(inputs[0])), np.int32)
        second_ids = np.zeros_like(ids)
        for n, (item, length) in enumerate(zip(inputs, lengths, strict=True)):
            ids[n, :length] = item.ids
            second_ids[n, :length] = item.type_ids
        if self.first_position is not None:
            second_ids[:] = self.first_position + np.arange(ids.shape[1])
        with as_model_error(self.place):
            output = self.model.forward_batch(
                StorageView.from_array(ids),
                StorageView.from_array(np.array(lengths, np.int32)),
                token_type_ids=second_ids.tolist(),
            )
        states = self._array(getattr(output, hidden))
        if states.ndim == 2:
            return list(states)
        return [rows[:length] for rows, length in zip(states, lengths, strict=True)]

    def _array(self, view: Any) -> np.ndarray:
        if self.on_gpu:
            import ctranslate2

            view = view.to_device(ctranslate2.Device.cpu)
        return np.array(view).astype(np.float32, copy=False)

    def _output(self, hidden: np.ndarray) -> np.ndarray:
        """
        Map [..., M] to [..., outputs], without a matrix product, whose last bits would
        depend on the numbers of rows and threads.
        """
        products = hidden[..., None, :] * self.head['weight']
        logits: np.ndarray = products.sum(-1) + self.head['bias']
        return logits


def _count_rows(model: Model, table: str) -> int:
    """The number of rows of a table; 0 if the model does not have it."""
    return len(model[table]) if table in model else 0


@dataclass(frozen=True)
class GenerationSettings:
    """
    Settings of generation; the names are those of transformers' ``GenerationConfig``.

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
        """The settings as arguments of the library."""
        return {
            'beam_size': self.num_beams,
            'num_hypotheses': self.num_return_sequences,
            'max_decoding_length': self.max_new_tokens,
            'no_repeat_ngram_size': self.no_repeat_ngram_size,
            'max_input_length': 0,
            'return_scores': True,
        }


class ConvertedSeq2Seq(ConvertedModel):
    """An encoder-decoder, whose tokenizer must have the words that it writes."""

    def __init__(
        self, converted: Converted, device: str, compute_type: str, batch_size: int
    ):
        super().__init__('Translator', converted, device, compute_type, batch_size)
        self.adds_end = bool(self.config.get('add_source_eos'))
        self.end = str(self.config.get('eos_token'))

    def generate(
        self, prompts: Sequence[str], search: GenerationSettings, max_tokens: int
    ) -> list[list[str] | None]:
        """
        Generate texts for each prompt, best first; None if their scores are not finite.

        :param max_tokens: the maximum number of tokens of a prompt, with the end token.
        """
        inputs = [
            [self.tokens.word(n) for n in ids[: max_tokens - 1]]
            + ([] if self.adds_end else [self.end])
            for ids in self.tokens.each(prompts)
        ]

        def generate_batch(rows: Sequence[list[str]]) -> list[list[str] | None]:
            with as_model_error(self.place):
                results = self.model.translate_batch(rows, **search.options)
            return [self._decode(result) for result in results]

        lengths = [len(tokens) for tokens in inputs]
        batches = equal_batches(lengths, self.batch_size, self.workers)
        return read_batches(generate_batch, inputs, batches, self, self.workers)

    def _decode(self, result: Any) -> list[str] | None:
        if not all(map(math.isfinite, result.scores)):
            return None
        rows = []
        for words in result.hypotheses:
            numbers = map(self.tokens.token_id, words)
            rows.append([number for number in numbers if number is not None])
        return self.tokens.decode(rows)
