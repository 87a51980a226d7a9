"""
Averages two classifiers of one architecture, weight by weight: what further training
taught, with less of what it cost (Wortsman et al. 2022, arXiv 2109.01903).

    python -m parlai_q2.zoo.train.average shipped:q2_mini/consistency new --outdir mean
"""

import argparse
from pathlib import Path
from typing import Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.errors import ConfigError
from parlai_q2.models.loading import load_model, load_tokenizer

Weights = dict[str, torch.Tensor]


def averaged(one: Weights, other: Weights, share: float) -> Weights:
    """
    The mean of two models' weights.

    :param share: of the second, in [0, 1].
    :raises ConfigError: when names or shapes differ, or the share is out of range.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f'--share must be from 0 to 1, not {share}.')
    if {n: w.shape for n, w in one.items()} != {n: w.shape for n, w in other.items()}:
        raise ConfigError(
            'The two models differ in the names or shapes of their weights. Average a '
            'model with one that was trained further from it.'
        )
    return {
        name: torch.lerp(weight, other[name].to(weight.dtype), share)
        if weight.is_floating_point()
        else weight
        for name, weight in one.items()
    }


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Average two models and write the mean, in fp32."""
    from transformers import AutoModelForSequenceClassification as Kind

    parser = argparse.ArgumentParser(description='The mean of two classifiers')
    parser.add_argument('first', help='a reference to a model')
    parser.add_argument('second', help='one that was trained further from it')
    parser.add_argument('--share', type=float, default=0.5, help='of the second')
    parser.add_argument('--outdir', type=Path, required=True)
    args = parser.parse_args(argv)
    model, second = load_model(args.first, Kind), load_model(args.second, Kind)
    weights = averaged(model.state_dict(), second.state_dict(), args.share)
    model.load_state_dict(weights)
    model.save_pretrained(args.outdir)
    load_tokenizer(args.first).save_pretrained(args.outdir)
    logging.info(f'{args.outdir}: {args.share:g} of {args.second}')


if __name__ == '__main__':
    main()
