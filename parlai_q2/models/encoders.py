"""
Loads encoders that read pairs of texts: classifiers and question answerers.

In int8 they are run by :mod:`parlai_q2.models.engine.bert`, in fp32 by transformers.
"""

from typing import Any, Iterable, Mapping, Optional, Protocol

import torch

from parlai_q2.errors import ModelError
from parlai_q2.models.device import inference
from parlai_q2.models.folder import blaming
from parlai_q2.models.loading import FLOAT32, INT8, int8_folder, load_model, not_int8


class PairEncoder(Protocol):
    """An encoder: a model and its Hugging Face configuration."""

    config: Any

    def logits(
        self, batches: Iterable[Mapping[str, torch.Tensor]]
    ) -> list[torch.Tensor]:
        """
        The logits for batches of inputs, each [B, L], of which B and L may differ.

        :return: for each batch, [B, classes] from a classifier, or [B, L, 2] from a
            question answerer, for starts and ends of answers.
        """


class HuggingFaceEncoder:
    """A classifier or question answerer that transformers runs."""

    def __init__(self, model: Any):
        self.model, self.config = model, model.config

    def logits(
        self, batches: Iterable[Mapping[str, torch.Tensor]]
    ) -> list[torch.Tensor]:
        with inference(self.model.device):
            return [self._read(batch) for batch in batches]

    def _read(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor:
        device = self.model.device
        output = self.model(**{name: t.to(device) for name, t in batch.items()})
        if 'start_logits' in output:
            logits = torch.stack([output.start_logits, output.end_logits], -1)
        else:
            logits = output.logits
        return logits.float().cpu()


def load_encoder(
    reference: str,
    auto_class: str,
    device: str = 'cpu',
    revision: Optional[str] = None,
    arithmetic: str = FLOAT32,
) -> PairEncoder:
    """
    Load an encoder in evaluation mode.

    :param auto_class: the name of one of transformers' ``AutoModelFor...`` classes.
    :param arithmetic: how to compute, ``int8`` or ``float32``.
    :raises ModelNotFoundError: if the model is not here and cannot be fetched.
    :raises ModelError: if its files cannot be read or do not fit.
    :raises ConfigError: if the engine cannot run it in int8.
    """
    if arithmetic == INT8:
        return _engine(reference, auto_class)
    import transformers

    kind = getattr(transformers, auto_class)
    return HuggingFaceEncoder(load_model(reference, kind, device, revision))


def _engine(reference: str, auto_class: str) -> PairEncoder:
    from parlai_q2.models.engine.bert import engine_of
    from parlai_q2.models.engine.stored import StoredModel

    folder = int8_folder(reference)
    if folder is None:
        raise not_int8(reference)
    stored = StoredModel(folder)
    with blaming(folder):
        engine = engine_of(stored.config, auto_class)
        if engine is None:
            raise not_int8(reference)
        return engine(stored)


def finite_logits(
    encoder: PairEncoder, batches: Iterable[Mapping[str, torch.Tensor]], model: str
) -> list[torch.Tensor]:
    """An encoder's logits; a ModelError names the model if one is NaN or infinite."""
    found = encoder.logits(batches)
    if not all(bool(logits.isfinite().all()) for logits in found):
        raise not_finite(model)
    return found


def not_finite(model: str) -> ModelError:
    """The error for a model that does not compute numbers."""
    return ModelError(
        f'{model} computes values that are not numbers (NaN or infinity). Its weights '
        'are damaged; fetch or train the model again.'
    )
