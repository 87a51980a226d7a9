"""
Adds a larger model's logits to rows, for a smaller model to learn from.

    python -m parlai_q2.zoo.train.teacher_logits --teacher out/teacher \\
      --rows cons.train.jsonl.xz --outfile cons_soft.train.jsonl.gz

Each row of ``p`` and ``h`` gets ``z``, the teacher's logits, one for each class
(:mod:`parlai_q2.zoo.train.train_classifier` says how they are learnt from). A model
that is to be trained further can be its own teacher: it then keeps what it knows
while it learns from other rows (Li and Hoiem 2016, "Learning without forgetting",
arXiv 1606.09282). In that case ``--most`` rows are enough, half of them from dialogues.
"""

import argparse
import random
from typing import Any, Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.data import read_rows, write_rows
from parlai_q2.zoo.train.train_classifier import ClassJob

DIGITS = 3  # of a logit
# The prefix of the sources of dialogue rows.
DIALOGUE = 'd-'


def some(
    rows: Sequence[dict[str, Any]], most: int, max_words: int, seed: int
) -> list[dict[str, Any]]:
    """
    A random selection of rows, half of them from dialogues, in random order.

    :param rows: rows of ``p``, ``h`` and ``src``.
    :param most: how many to take at most; 0 takes all, in their order.
    :param max_words: the limit for both texts together; 0 for no limit.
    :param seed: decides which rows are taken.
    """
    if max_words:
        rows = [r for r in rows if len(f'{r["p"]} {r["h"]}'.split()) <= max_words]
    if not most:
        return list(rows)
    rng = random.Random(seed)
    spoken = [r for r in rows if r.get('src', '').startswith(DIALOGUE)]
    others = [r for r in rows if not r.get('src', '').startswith(DIALOGUE)]
    chosen = [
        row
        for part in (spoken, others)
        for row in rng.sample(part, min(most // 2, len(part)))
    ]
    rng.shuffle(chosen)
    return chosen


def with_logits(
    rows: Sequence[dict[str, Any]], model: Any, job: ClassJob, device: str = 'cpu'
) -> list[dict[str, Any]]:
    """
    Add a teacher's logits to rows.

    :param rows: N rows of ``p`` and ``h``.
    :param model: the teacher, a classifier.
    :param job: encodes the rows.
    :param device: the device that the teacher is on.
    :return: N new rows with ``z``.
    """
    with torch.inference_mode():
        logits = job.logits(model, job.encode(rows), device).tolist()
    return [
        {**row, 'z': [round(value, DIGITS) for value in of_row]}
        for row, of_row in zip(rows, logits, strict=True)
    ]


def main(argv: Optional[Sequence[str]] = None) -> None:
    """
    Write the rows with logits.
    """
    from transformers import AutoModelForSequenceClassification

    parser = argparse.ArgumentParser(description="Adds a teacher's logits to rows")
    parser.add_argument('--teacher', required=True, help='a model reference')
    parser.add_argument('--rows', required=True, help='file of rows with p, h and y')
    parser.add_argument('--outfile', required=True)
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    parser.add_argument('--max-tokens', type=int, default=192)
    parser.add_argument(
        '--most', type=int, default=0, help='number of rows to take; 0: all'
    )
    parser.add_argument(
        '--max-words',
        type=int,
        default=0,
        help="most words of a row's two texts together; 0: no limit",
    )
    parser.add_argument(
        '--seed', type=int, default=5, help='seed for choosing the rows'
    )
    args = parser.parse_args(argv)
    model = load_model(args.teacher, AutoModelForSequenceClassification, args.device)
    job = ClassJob(load_tokenizer(args.teacher), args.max_tokens)
    rows = some(read_rows(args.rows), args.most, args.max_words, args.seed)
    count = write_rows(args.outfile, with_logits(rows, model, job, args.device))
    logging.info(f'{count} rows: {args.outfile}')


if __name__ == '__main__':
    main()
