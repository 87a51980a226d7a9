"""
Averages classifiers of one architecture, weight by weight: what further training
taught, with less of what it cost (Wortsman et al. 2022, arXiv 2109.01903), and what
several seeds have in common (Wortsman et al. 2022, arXiv 2203.05482).

    python -m parlai_q2.zoo.train.average shipped:q2_mini/consistency seed1 seed2 \
      --share 0.7 --outdir mean

Adapters are averaged with their base, without a term, to one adapter.
"""

import argparse
from pathlib import Path
from typing import Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.errors import ConfigError
from parlai_q2.models.converted.from_adapter import WEIGHTS, base_folder, has_adapter
from parlai_q2.models.int8_weights import load_int8
from parlai_q2.models.loading import load_model, load_tokenizer
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
    folders = [resolve(other) for other in args.others]
    if all(isinstance(f, Path) and has_adapter(f) for f in folders):
        terms = [load_int8(Path(f) / WEIGHTS) for f in folders]
        bases = {str(base_folder(Path(f))) for f in folders}
        if bases != {str(resolve(args.first))}:
            raise ConfigError(f'{args.first} is not the base of each adapter.')
        write_adapter(mean_adapter(terms, args.share), args.first, args.outdir)
        return
    model = load_model(args.first, Kind)
    others = [load_model(other, Kind).state_dict() for other in args.others]
    weights = averaged(model.state_dict(), others, args.share)
    model.load_state_dict(weights)
    model.save_pretrained(args.outdir)
    load_tokenizer(args.first).save_pretrained(args.outdir)
    logging.info(f'{args.outdir}: {args.share:g} of {", ".join(args.others)}')


if __name__ == '__main__':
    main()
