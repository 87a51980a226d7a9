"""
Low-rank adapters, which let one set of weights serve two tasks.

A linear layer ``y = W x`` gets a trainable term, ``y = W x + B A x``, with A of shape
[rank, in] and B of shape [out, rank] (Hu et al. 2021, "LoRA", arXiv 2106.09685, section
4.1, with the scale alpha / rank fixed at 1). A loaded adapter's ``B A`` is added to a
copy of W.
"""

from typing import Iterator

import torch
from torch import nn

from parlai_q2.errors import ModelError


class LoraLinear(nn.Module):
    """A frozen linear layer with a trainable low-rank term."""

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.empty(rank, base.in_features))
        self.lora_b = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.lora_a, a=5**0.5)

    @property
    def weight(self) -> torch.Tensor:
        # T5's feed-forward block reads wo.weight.dtype.
        return self.base.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low_rank = nn.functional.linear(x, self.lora_a)  # [..., rank]
        return self.base(x) + nn.functional.linear(low_rank, self.lora_b)


def adaptable_layers(model: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    """
    The linear layers that get an adapter, by dotted name: all but an output layer that
    shares its weights with the embeddings, which merging would change too.
    """
    embeddings = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear) and id(module.weight) not in embeddings:
            yield name, module


def add_adapters(model: nn.Module, rank: int) -> nn.Module:
    """Freeze a model, in place, and give each linear layer a trainable term."""
    model.requires_grad_(False)
    for name, layer in list(adaptable_layers(model)):
        parent, _, leaf = name.rpartition('.')
        setattr(model.get_submodule(parent), leaf, LoraLinear(layer, rank))
    return model


def continue_from(model: nn.Module, adapter: dict[str, torch.Tensor]) -> nn.Module:
    """
    Initialise the low-rank terms of a model, in place, with those of a trained adapter
    of its rank or a lower one. Further rows of A stay random and further columns of B
    zero, so the model computes the same.

    :raises ModelError: if a term fits no layer of this model.
    """
    parameters = dict(model.named_parameters())
    with torch.no_grad():
        for name, trained in adapter.items():
            term = parameters.get(name)
            if term is None or any(
                t > s for t, s in zip(trained.shape, term.shape, strict=True)
            ):
                raise ModelError(
                    f'The adapter to go on from has {name} of shape '
                    f'{list(trained.shape)}, which does not fit this model. Raise '
                    '--rank, or give the model it was trained on as --base.'
                )
            term[: trained.shape[0], : trained.shape[1]] = trained
    return model


def adapter_state(model: nn.Module) -> dict[str, torch.Tensor]:
    """The terms, ``<layer>.lora_a`` [rank, in] and ``<layer>.lora_b`` [out, rank]."""
    return {
        name: tensor.detach()
        for name, tensor in model.state_dict().items()
        if name.endswith(('.lora_a', '.lora_b'))
    }


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
