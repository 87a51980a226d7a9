"""Runs a generator's encoder only once for all searches over the same context."""

from contextlib import contextmanager
from typing import Any, Iterator, Optional

import torch
from torch import nn


class EncoderMemo:
    """
    Replaces an encoder and returns its last output again for the same input. In
    evaluation that output depends on the input alone, and searches copy it before they
    change it (``reorder_encoder_states``).
    """

    def __init__(self, encoder: nn.Module):
        self.encoder = encoder
        self.calls = 0
        self._last: Optional[tuple[Any, Any]] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Input and output are stored together, because threads may share the model.
        last = self._last
        if last is None or not _same(last[0], (args, kwargs)):
            last = (args, kwargs), self.encoder(*args, **kwargs)
            self._last = last
            self.calls += 1
        return last[1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)


@contextmanager
def encode_once(model: nn.Module) -> Iterator[Optional[EncoderMemo]]:
    """
    Let a model's encoder run once per input while the context lasts.

    The memo shadows ``model.encoder`` in the instance's own attributes; the module
    stays untouched.

    :param model: a TorchGeneratorModel, or one wrapped for distributed data
        parallelism.
    :return: the memo; None where the model has no plain encoder.
    """
    if isinstance(model, nn.parallel.DistributedDataParallel):
        model = model.module
    encoder = model._modules.get('encoder') if isinstance(model, nn.Module) else None
    if encoder is None:
        yield None
        return
    memo = EncoderMemo(encoder)
    model.__dict__['encoder'] = memo
    try:
        yield memo
    finally:
        model.__dict__.pop('encoder', None)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return (
            isinstance(a, torch.Tensor)
            and isinstance(b, torch.Tensor)
            and a.shape == b.shape
            and a.device == b.device
            and torch.equal(a, b)
        )
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    return bool(a == b)
