"""
Orders the detector's rows, and adds a larger model's logits to them (docs/training.md).

First comes what is nearest to the detector's use, so that a run may end early: dialogue
turns with their knowledge, claims checked against an encyclopedia, and premises as long
as documents, at most :data:`MOST` rows of one source and class. All other rows follow;
each part is shuffled. ANLI is left out, since its licence (CC BY-NC 4.0) forbids
commercial use. With a teacher, all rows stay as they are and each gets ``z``, a logit
for each class, to learn from (:mod:`parlai_q2.zoo.train.train_classifier`).
"""

import argparse
import random
from collections import Counter
from typing import Any, Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.data import Row, read_rows, write_rows
from parlai_q2.zoo.train.train_classifier import ClassJob

LEFT_OUT = ('anli',)
# Sources of the first part, by how their names begin.
FIRST = (
    'd-',
    'fever',
    'climate-fever',
    'fool-me-twice',
    'halueval',
    'healthver',
    'wice',
    'scitail',
    'rte',
    'control',
)
MOST = 6500
# Sentence pairs that teach entailment in general, so many of each class.
GENERAL = {'mnli': 1500, 'lingnli': 2500, 'sick': 500, 'dnc': 500}
DIGITS = 3  # of a logit


def ordered(rows: Sequence[Row], seed: int = 1) -> list[Row]:
    """
    The rows in the order in which they are learnt from.

    :param seed: shuffles each part, and decides which rows are over the limits.
    """
    rng = random.Random(seed)
    taken: Counter[tuple[str, int]] = Counter()
    first: list[Row] = []
    second: list[Row] = []
    for row in rng.sample(list(rows), len(rows)):
        source, kind = row['src'], (row['src'], row['y'])
        if source in LEFT_OUT:
            continue
        most = MOST if source.startswith(FIRST) else GENERAL.get(source, 0)
        part = first if taken[kind] < most else second
        taken[kind] += 1
        part.append(row)
    return first + second


def with_logits(
    rows: Sequence[Row], model: Any, job: ClassJob, device: str = 'cpu'
) -> list[Row]:
    """Rows with a classifier's logits as ``z``, in the same order."""
    with torch.inference_mode():
        logits = job.logits(model, job.encode(rows), device).tolist()
    return [
        {**row, 'z': [round(value, DIGITS) for value in of_row]}
        for row, of_row in zip(rows, logits, strict=True)
    ]


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write a file of rows."""
    parser = argparse.ArgumentParser(description="The detector's rows")
    parser.add_argument('--rows', required=True, help='file of rows with p, h, y, src')
    parser.add_argument('--outfile', required=True)
    parser.add_argument('--teacher', help='a model whose logits each row gets')
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    parser.add_argument('--max-tokens', type=int, default=192)
    args = parser.parse_args(argv)
    rows = read_rows(args.rows)
    if args.teacher:
        from transformers import AutoModelForSequenceClassification

        kind = AutoModelForSequenceClassification
        model = load_model(args.teacher, kind, args.device)
        job = ClassJob(load_tokenizer(args.teacher), args.max_tokens)
        rows = with_logits(rows, model, job, args.device)
    else:
        rows = ordered(rows)
    logging.info(f'{write_rows(args.outfile, rows)} rows: {args.outfile}')


if __name__ == '__main__':
    main()
