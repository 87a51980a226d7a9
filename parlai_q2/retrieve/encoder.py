"""
Encoders of texts, whose vectors are close for texts that belong together.

A converted folder, or one with int8 weights, is run by CTranslate2; any other folder or
hub name by transformers. Which hidden states are the vector, and whether it is made to
have length 1, is read from the files that sentence-transformers writes
(``modules.json``, ``1_Pooling/config.json``); without them it is the mean of the last
hidden states, of length 1. DPR's encoders (Karpukhin et al. 2020, arXiv 2004.04906)
give their pooled output as it is.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from parlai_q2.errors import ModelError
from parlai_q2.models.backend import Backend
from parlai_q2.models.converted.engine import ConvertedEncoder
from parlai_q2.models.device import CPU
from parlai_q2.models.hugging_face import SEGMENTS
from parlai_q2.models.model_files import resolve
from parlai_q2.options import Word
from parlai_q2.presets import ModelConfig

DPR_PASSAGES = 'facebook/dpr-ctx_encoder-single-nq-base'
DPR_QUESTIONS = 'facebook/dpr-question_encoder-single-nq-base'
# Long queries lose their beginning, long passages their end.
QUERY_TOKENS, PASSAGE_TOKENS = 64, 160
BATCH_SIZE = 64
_DPR = ('DPRContextEncoder', 'DPRQuestionEncoder')


class Pooling(Word):
    """Which hidden states are the vector of a text."""

    MEAN = 'mean'
    CLS = 'cls'  # the state of the first token
    POOLED = 'pooled'  # the model's pooled output


class TextEncoder(Backend):
    """
    Computes vectors of texts.

    :param reference: a shipped model, a folder or a hub name.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if its files cannot be read, or it is not an encoder of texts.
    """

    def __init__(self, reference: str):
        super().__init__(ModelConfig(reference), CPU, BATCH_SIZE)
        # The identity of the files that are loaded now.
        self.identity()
        self.pooling, self.unit, auto_class = Pooling.MEAN, True, ''
        if self.folder is None:
            self.pooling, self.unit = _read_pooling(reference)
            auto_class = self._find_class()
        self._model = self._open_encoder(auto_class)
        if not isinstance(self._model, ConvertedEncoder):
            # A single text has no segments.
            self._model.inputs.discard(SEGMENTS)

    def _find_class(self) -> str:
        """The name of the class of transformers that loads the model."""
        import transformers

        from parlai_q2.models.loading import NO_CODE, not_loaded

        reference = self.config.model
        place = resolve(reference)
        try:
            config = transformers.AutoConfig.from_pretrained(place, **NO_CODE)
        except Exception as e:
            raise not_loaded(reference, place, e) from e
        name = str((config.architectures or [''])[0])
        if name in _DPR:
            # Both have the same model type, so that AutoModel confuses them.
            self.pooling, self.unit = Pooling.POOLED, False
            return name
        if getattr(config, 'is_encoder_decoder', False):
            raise ModelError(
                f'{reference} is an encoder-decoder, not an encoder of texts. '
                'Name a sentence encoder, such as '
                'sentence-transformers/all-MiniLM-L6-v2.'
            )
        return 'AutoModel'

    @property
    def signature(self) -> str:
        """The settings that decide its vectors."""
        return f'{self.identity()},{self.engine}'

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of passages, [B, M], fp32."""
        return self._encode(texts, PASSAGE_TOKENS, False)

    def queries(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of queries, [B, M], fp32."""
        return self._encode(texts, QUERY_TOKENS, True)

    def _encode(
        self, texts: Sequence[str], max_tokens: int, keep_end: bool
    ) -> np.ndarray:
        model = self._model
        length = min(max_tokens, model.max_tokens)
        inputs = model.tokens.texts(texts, length, keep_end)
        if not inputs:
            return np.zeros((0, 0), np.float32)
        if isinstance(model, ConvertedEncoder):
            rows = model.means(inputs)
        else:
            rows = model.read(inputs, self._pool)
        vectors = np.stack(rows).astype(np.float32)
        if self.unit:
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors /= np.maximum(norms, 1e-9)
        return vectors

    def _pool(self, output: Any, mask: Any) -> Any:
        """The vectors [B, M] of a batch, given its mask [B, L]."""
        if self.pooling == Pooling.POOLED:
            return output.pooler_output
        if self.pooling == Pooling.CLS:
            return output.last_hidden_state[:, 0]
        hidden = output.last_hidden_state.float()  # [B, L, M]
        return (hidden * mask[..., None]).sum(1) / mask.sum(1)[:, None]


@lru_cache(maxsize=4)
def load_encoder(reference: str) -> TextEncoder:
    """Load an encoder, once."""
    return TextEncoder(reference)


def _read_pooling(reference: str) -> tuple[Pooling, bool]:
    """Read how hidden states are pooled, and whether vectors have length 1."""
    modules = _read_config(reference, 'modules.json')
    if not isinstance(modules, list):
        return Pooling.MEAN, True
    kinds = [str(m.get('type', '')).rpartition('.')[2] for m in modules]
    unknown = set(kinds) - {'Transformer', 'Pooling', 'Normalize'}
    if unknown:
        raise ModelError(
            f'{reference} has unsupported parts: {", ".join(sorted(unknown))}.'
        )
    pooling = _read_config(reference, '1_Pooling/config.json')
    modes: Mapping[str, Any] = pooling if isinstance(pooling, Mapping) else {}
    active = {
        name.removeprefix('pooling_mode_')
        for name, value in modes.items()
        if name.startswith('pooling_mode_') and value is True
    }
    if not active <= {'mean_tokens', 'cls_token'} or len(active) > 1:
        raise ModelError(
            f'{reference} pools by {", ".join(sorted(active))}, not by mean_tokens '
            'or cls_token.'
        )
    pooling = Pooling.CLS if active == {'cls_token'} else Pooling.MEAN
    return pooling, 'Normalize' in kinds


def _read_config(reference: str, name: str) -> Any:
    """Read a JSON file of a model; None if it has no such file."""
    from transformers.utils import cached_file

    path = cached_file(
        str(resolve(reference)),
        name,
        _raise_exceptions_for_missing_entries=False,
        _raise_exceptions_for_connection_errors=False,
    )
    if path is None:
        return None
    try:
        return json.loads(Path(path).read_text(encoding='utf-8'))
    except (OSError, ValueError) as e:
        raise ModelError(f'Cannot read {path}: {e}') from e
