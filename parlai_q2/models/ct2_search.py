"""
Beam search by CTranslate2, which spends less time between matrix products than torch
does (Klein et al. 2020, WNGT; https://opennmt.net/CTranslate2).

In fp32 it finds the sequences that ``generate`` finds, but for one thing: the
probability of a word that would repeat an n-gram goes to the other words, and is not
just taken away. In int8 it rounds activations in another way than the project's own
layers do, so that some sequences are other ones.
"""

import functools
from pathlib import Path
from typing import Any, Sequence

import torch

from parlai_q2.errors import ConfigError, ModelError
from parlai_q2.models.beams import BeamSettings
from parlai_q2.models.converted import converted, ctranslate2
from parlai_q2.models.loading import FLOAT32, folder_generation
from parlai_q2.presets import ModelConfig

# A call cannot be interrupted, so it takes no more batches than these for each thread.
BATCHES_A_CALL = 8


class CT2Search:
    """
    A T5, converted and loaded.

    :param config: a preset's section.
    :param arithmetic: ``int8`` or ``float32``; weights of either kind are made such.
    :raises MissingPackageError: when CTranslate2 is not installed.
    :raises ConfigError: for a model that cannot be converted, or an arithmetic that
        this processor does not have.
    :raises ModelError: when what was converted cannot be kept or loaded.
    """

    def __init__(self, config: ModelConfig, arithmetic: str):
        folder = converted(config, arithmetic)
        self.generation = folder_generation(folder, None)
        # A thread computes batches of its own: within a product there is too little to
        # do for two.
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

        :param inputs: S lists of tokens, the end token included.
        :param settings: how to search.
        :param returned: how many sequences of each, at most K.
        :param spans_at_once: how many a thread decodes side by side, at most.
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
    except ValueError as e:  # it has no fast products of that kind here
        other = '' if arithmetic == FLOAT32 else ' Set "arithmetic: float32".'
        raise ConfigError(
            f'CTranslate2 cannot compute in {arithmetic} on this processor: {e}.{other}'
        ) from e
    except RuntimeError as e:
        raise ModelError(
            f'CTranslate2 cannot load {folder}: {e}. Delete that folder; it is '
            'then made again.'
        ) from e
