"""
Low-rank adapters, which let one set of weights serve two tasks (Hu et al. 2021, "LoRA",
arXiv 2106.09685, section 4.1, with the scale alpha / rank fixed at 1): a linear layer
``y = W x`` becomes ``y = W x + B A x``, with A (``<layer>.lora_a``) of shape [rank, in]
and B (``<layer>.lora_b``) of shape [out, rank]. ``B A`` is added to a copy of W.
"""

from typing import Iterator

import torch
from torch import nn

from parlai_q2.errors import ModelError


def adaptable_layers(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """
    The linear layers that get an adapter, by dotted name: all but an output layer that
    shares its weights with the embeddings, which merging would change too.
    """
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and id(module.weight) not in embeddings:
            yield name, module


def merge_adapter(model: nn.Module, adapter: dict[str, torch.Tensor]) -> nn.Module:
    """
    Add each low-rank term to the plain model's weights, in place.

    :raises ModelError: if a term fits no layer of this model.
    """
    layers = dict(adaptable_layers(model))
    names = {name.rpartition('.')[0] for name in adapter}
    unknown = sorted(names - layers.keys())
    if unknown:
        raise ModelError(
            f'The adapter was made for another model: it has {unknown[0]!r}, which '
            f'{type(model).__name__} lacks.'
        )
    with torch.no_grad():
        for name in sorted(names):
            b, a = adapter[f'{name}.lora_b'], adapter[f'{name}.lora_a']
            layers[name].weight += (b.float() @ a.float()).to(layers[name].weight.dtype)
    return model
