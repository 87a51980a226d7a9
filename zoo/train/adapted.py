"""
Trains a low-rank adapter of a detector in place of the whole of it (Hu et al. 2021,
arXiv 2106.09685): a few megabytes beside a model that stays as it is.
"""

import json
from pathlib import Path
from typing import Any, Sequence

import torch
from torch import nn

from parlai_q2.errors import ConfigError
from parlai_q2.io.write import whole_file, write_text
from parlai_q2.models.converted.base import said_of
from parlai_q2.models.converted.from_adapter import ADAPTER, GRID, WEIGHTS
from parlai_q2.models.folder import CHECKSUMS, write_checksums
from parlai_q2.models.int8_weights import stored_form, write_int8
from parlai_q2.models.lora import adaptable_layers
from parlai_q2.zoo.train.train_twins import TwinJob

# How much longer the steps of the merged weights are; see the reader.
STEPS = 1.1


class AdapterJob(TwinJob):
    """
    Trains an adapter on twins; see :class:`TwinJob`.

    :param rank: of every layer's term.
    """

    def __init__(self, tokenizer: Any, max_tokens: int = 192, rank: int = 16):
        super().__init__(tokenizer, max_tokens)
        self.rank = rank

    def student(self, model: Any, rows: Sequence[dict[str, Any]]) -> Any:
        """The model with terms that change nothing yet; only these are trained."""
        return attach(model, self.rank)

    def write(self, model: Any, base: str, folder: Path) -> int:
        """Write the adapter alone, for :mod:`parlai_q2.models.lora`."""
        return write_adapter(terms(model), base, folder)


def attach(model: nn.Module, rank: int) -> nn.Module:
    """Give each adaptable layer a term of a rank, and freeze all else."""
    model.requires_grad_(False)
    for _, layer in list(adaptable_layers(model)):
        a = torch.empty(rank, layer.in_features)
        nn.init.kaiming_uniform_(a, a=5**0.5)
        layer.lora_a = nn.Parameter(a)
        layer.lora_b = nn.Parameter(torch.zeros(layer.out_features, rank))
        layer.register_forward_hook(_add_term)
    return model


def _add_term(layer: Any, given: tuple[torch.Tensor, ...], out: torch.Tensor) -> Any:
    low = nn.functional.linear(given[0], layer.lora_a)
    return out + nn.functional.linear(low, layer.lora_b)


def terms(model: nn.Module) -> dict[str, torch.Tensor]:
    """The tensors of all terms, by name."""
    return {n: t for n, t in model.state_dict().items() if '.lora_' in n}


def mean_adapter(
    adapters: Sequence[dict[str, torch.Tensor]], share: float
) -> dict[str, torch.Tensor]:
    """
    One adapter, of the ranks together, that does a share of what several do on average.

    :raises ConfigError: when they are not of the same layers.
    """
    if any(one.keys() != adapters[0].keys() for one in adapters):
        raise ConfigError('The adapters are of different layers. Train them alike.')
    factor = share / len(adapters)
    return {
        name: torch.cat([one[name] for one in adapters])
        if name.endswith('.lora_a')
        else torch.cat([one[name] for one in adapters], 1) * factor
        for name in adapters[0]
    }


def write_adapter(adapter: dict[str, torch.Tensor], base: str, folder: Path) -> int:
    """
    Write the folder that an adapter ships in.

    :param base: the reference of the model that it belongs to, whose weights it names.
    :return: the size of the terms in bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CHECKSUMS).unlink(missing_ok=True)
    with whole_file(folder / WEIGHTS) as unfinished:
        size = write_int8(stored_form(adapter), unfinished)
    rank = len(next(t for n, t in adapter.items() if n.endswith('.lora_a')))
    said = {**said_of(base), 'rank': rank, GRID: STEPS}
    write_text(folder / ADAPTER, json.dumps(said, indent=1) + '\n')
    write_checksums(folder, [ADAPTER, WEIGHTS])
    return size
