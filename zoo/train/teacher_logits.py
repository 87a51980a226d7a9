"""
Adds a larger model's logits to rows, for a smaller model to learn from.

    python -m parlai_q2.zoo.train.teacher_logits --teacher out/teacher \\
      --rows cons.train.jsonl.xz --outfile cons_soft.train.jsonl.gz

Each row of ``p`` and ``h`` gets ``z``, the teacher's logits, one for each class;
:mod:`parlai_q2.zoo.train.train_classifier` says how they are learnt from.
"""

import argparse
from typing import Any, Optional, Sequence

import torch
from parlai.utils import logging

from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.zoo.train.data import Row, read_rows, write_rows
from parlai_q2.zoo.train.train_classifier import ClassJob

DIGITS = 3  # of a logit


def with_logits(
    rows: Sequence[Row], model: Any, job: ClassJob, device: str = 'cpu'
) -> list[Row]:
    """
    Rows of ``p`` and ``h`` with a classifier's logits as ``z``, in the same order.
    """
    with torch.inference_mode():
        logits = job.logits(model, job.encode(rows), device).tolist()
    return [
        {**row, 'z': [round(value, DIGITS) for value in of_row]}
        for row, of_row in zip(rows, logits, strict=True)
    ]


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Write the rows with logits."""
    from transformers import AutoModelForSequenceClassification

    parser = argparse.ArgumentParser(description="Adds a teacher's logits to rows")
    parser.add_argument('--teacher', required=True, help='a model reference')
    parser.add_argument('--rows', required=True, help='file of rows with p, h and y')
    parser.add_argument('--outfile', required=True)
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    parser.add_argument('--max-tokens', type=int, default=192)
    args = parser.parse_args(argv)
    model = load_model(args.teacher, AutoModelForSequenceClassification, args.device)
    job = ClassJob(load_tokenizer(args.teacher), args.max_tokens)
    rows = with_logits(read_rows(args.rows), model, job, args.device)
    logging.info(f'{write_rows(args.outfile, rows)} rows: {args.outfile}')


if __name__ == '__main__':
    main()
