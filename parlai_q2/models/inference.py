"""
Makes models compute the same way, whatever the surrounding program has configured.
"""

from contextlib import contextmanager
from typing import Iterator, Union

import torch


@contextmanager
def inference(device: Union[str, torch.device]) -> Iterator[None]:
    """
    Compute without gradients and without autocast. The autocast of a training loop
    would round the scores, and their signature would not show it.

    :param device: the device of the model.
    """
    kind = torch.device(device).type
    with torch.inference_mode(), torch.autocast(kind, enabled=False):
        yield


@contextmanager
def in_float32() -> Iterator[None]:
    """
    Create tensors in fp32 by default. Another default type of the host program would
    round weights as they are loaded, and no signature would show it.
    """
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
