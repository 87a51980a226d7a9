"""
Beam search with CTranslate2, which has less overhead between matrix products than torch
(Klein et al. 2020, WNGT; https://opennmt.net/CTranslate2).

In fp32 it finds the same sequences as ``generate``, with one exception: the probability
of a word that would repeat an n-gram is redistributed to the other words instead of
being dropped. In int8 it rounds activations differently from the project's own layers,
so some sequences differ.
"""

import functools
from pathlib import Path
from typing import Any, Sequence

import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.converted import converted, ctranslate2
from parlai_q2.models.engine.t5.beams import BeamSettings
from parlai_q2.models.folder import folder_generation
from parlai_q2.models.loading import FLOAT32
from parlai_q2.presets import ModelConfig

# The most batches per thread in one call, which cannot be interrupted.
BATCHES_A_CALL = 8


class CT2Search:
    """
    A T5 model, converted and loaded for search.

    :param config: a preset's section.
    :param arithmetic: ``int8`` or ``float32``; the weights are converted to it.
    :raises MissingPackageError: if CTranslate2 is not installed.
    :raises ConfigError: if the model cannot be converted, or this processor does not
        support the arithmetic.
    :raises ModelError: if the converted model cannot be saved or loaded.
    """

    def __init__(self, config: ModelConfig, arithmetic: str):
        folder = converted(config, arithmetic)
        self.generation = folder_generation(folder, None)
        # Each thread computes its own batches: a single product is too small for two.
        self.threads = torch.get_num_threads()
        self._translator = _load(folder, arithmetic, self.threads)

    def search(
        self,
        inputs: Sequence[list[str]],
        settings: BeamSettings,
        returned: int,
        spans_at_once: int,
    ) -> list[list[list[str]]]:
        """
        The best sequences of each input.

        :param inputs: S lists of tokens, including the end token.
        :param settings: how to search.
        :param returned: how many sequences to return for each input, at most K.
        :param spans_at_once: the most inputs that a thread decodes at the same time.
        :return: S lists of sequences of tokens, best first, without the end token.
        """
        found: list[list[list[str]]] = []
        a_call = spans_at_once * self.threads * BATCHES_A_CALL
        for start in range(0, len(inputs), a_call):
            some = inputs[start : start + a_call]
            share = -(-len(some) // self.threads)
            results = self._translator.translate_batch(
                some,
                max_batch_size=min(spans_at_once, share),
                beam_size=settings.num_beams,
                num_hypotheses=returned,
                length_penalty=settings.length_penalty,
                no_repeat_ngram_size=settings.no_repeat_ngram_size,
                end_token=[settings.end],
                max_input_length=0,
                max_decoding_length=settings.max_new_tokens,
                min_decoding_length=0,
            )
            found += [result.hypotheses for result in results]
        return found


def _load(folder: Path, arithmetic: str, threads: int) -> Any:
    make = functools.partial(
        ctranslate2().Translator, str(folder), device='cpu', compute_type=arithmetic
    )
    try:
        return make(inter_threads=threads, intra_threads=1)
    except ValueError as e:  # no such products on this processor
        other = '' if arithmetic == FLOAT32 else ' Set "arithmetic: float32".'
        raise ConfigError(
            f'CTranslate2 cannot compute in {arithmetic} on this processor: {e}.{other}'
        ) from e
    except RuntimeError as e:
        raise ModelError(
            f'CTranslate2 cannot load {folder}: {e}. Delete that folder; it is '
            'then made again.'
        ) from e
