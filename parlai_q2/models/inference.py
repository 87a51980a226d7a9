"""
How models compute, whatever the program around them has set.
"""

from contextlib import contextmanager
from typing import Iterator, Union

import torch


@contextmanager
def inference(device: Union[str, torch.device]) -> Iterator[None]:
    """
    Without gradients, and in the precision of the weights: a training loop's autocast
    would round what scores are made of, and their signature would not say so.

    :param device: where the model is.
    """
    kind = torch.device(device).type
    with torch.inference_mode(), torch.autocast(kind, enabled=False):
        yield


@contextmanager
def in_float32() -> Iterator[None]:
    """
    Make fp32 tensors where nothing is said: a host's other default type would round
    weights as they are loaded, and no signature would say so.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
