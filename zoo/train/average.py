"""
Averages classifiers of one architecture, weight by weight: what further training
taught, with less of what it cost (Wortsman et al. 2022, arXiv 2109.01903), and what
several seeds have in common (Wortsman et al. 2022, arXiv 2203.05482).

    python -m parlai_q2.zoo.train.average shipped:q2_mini/consistency seed1 seed2 \
      --share 0.7 --outdir mean

Adapters of a model in int8 are averaged to one adapter; others are merged first.
"""

import argparse
from pathlib import Path
from typing import Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.base import reference_of_base
from parlai_q2.models.converted.from_adapter import ADAPTER, WEIGHTS, has_adapter
from parlai_q2.models.converted.from_int8 import has_int8
from parlai_q2.models.int8_weights import load_int8
from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.lora import merge_adapter
from parlai_q2.models.references import resolve
from parlai_q2.zoo.train.adapted import mean_adapter, write_adapter

Weights = dict[str, torch.Tensor]


def averaged(one: Weights, others: Sequence[Weights], share: float) -> Weights:
    """
    The mean of a model's weights and of the mean of others'.

    :param others: at least one.
    :param share: of the others together, in [0, 1].
    :raises ConfigError: when names or shapes differ, or the share is out of range.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f'--share must be from 0 to 1, not {share}.')
    shapes = {n: w.shape for n, w in one.items()}
    if any({n: w.shape for n, w in other.items()} != shapes for other in others):
        raise ConfigError(
            'The models differ in the names or shapes of their weights. Average a '
            'model with those that were trained further from it.'
        )

    def mean(name: str, weight: torch.Tensor) -> torch.Tensor:
        found = [other[name].to(weight.dtype) for other in others]
        return torch.lerp(weight, torch.stack(found).mean(0), share)

    return {
        name: mean(name, weight) if weight.is_floating_point() else weight
        for name, weight in one.items()
    }


def _adapter(first: str, other: str) -> Optional[Weights]:
    """
    The terms of an adapter; None if the other is a model of its own.

    :raises ConfigError: if it is an adapter of another model than the first.
    """
    folder = resolve(other)
    if not isinstance(folder, Path) or not has_adapter(folder):
        return None
    base = resolve(reference_of_base(folder / ADAPTER))
    if str(base) != str(resolve(first)):
        raise ConfigError(f'{first} is not the base of {other}, which is {base}.')
    return load_int8(folder / WEIGHTS)


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Average models and write the mean, in fp32."""
    from transformers import AutoModelForSequenceClassification as Kind

    parser = argparse.ArgumentParser(description='The mean of classifiers')
    parser.add_argument('first', help='a reference to a model')
    parser.add_argument(
        'others', nargs='+', help='what was trained further from it, one for each seed'
    )
    parser.add_argument('--share', type=float, default=0.5, help='of the others')
    parser.add_argument('--outdir', type=Path, required=True)
    args = parser.parse_args(argv)
    adapters = [_adapter(args.first, other) for other in args.others]
    place = resolve(args.first)
    if all(adapters) and isinstance(place, Path) and has_int8(place):
        found = mean_adapter([one for one in adapters if one], args.share)
        write_adapter(found, args.first, args.outdir)
        return
    model = load_model(args.first, Kind)
    others = [
        merge_adapter(load_model(args.first, Kind), adapter).state_dict()
        if adapter
        else load_model(other, Kind).state_dict()
        for other, adapter in zip(args.others, adapters, strict=True)
    ]
    weights = averaged(model.state_dict(), others, args.share)
    model.load_state_dict(weights)
    model.save_pretrained(args.outdir)
    load_tokenizer(args.first).save_pretrained(args.outdir)
    logging.info(f'{args.outdir}: {args.share:g} of {", ".join(args.others)}')


if __name__ == '__main__':
    main()
