"""
Trains the reply adapter: a low-rank term on the frozen question-generation weights.

    python -m parlai_q2.zoo.train.reply_adapter --data reply.train.jsonl.xz --outdir out

Rows have ``k`` (knowledge sentence), ``h`` (turns before) and ``r`` (reply). The output
is ``adapter.int8.safetensors`` and ``training.json``. The same command resumes a
stopped run, if data and options are unchanged.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any, Optional, Sequence

import torch

from parlai_q2.io.files import file_sha256
from parlai_q2.io.write import write_text
from parlai_q2.models.engine.int8_weights import load_int8, save_int8
from parlai_q2.models.loading import ADAPTER_WEIGHTS, load_seq2seq
from parlai_q2.models.lora import adapter_state, add_adapters, continue_from
from parlai_q2.models.references import resolve
from parlai_q2.zoo.train.checkpoint import (
    check_apart,
    drop_checkpoint,
    model_identity,
)
from parlai_q2.zoo.train.data import read_rows
from parlai_q2.zoo.train.loop import LOG, LoopSettings, train
from parlai_q2.zoo.train.train_seq2seq import REPLIES, TextJob

HELD_OUT = 400  # rows whose loss is logged


def identity_of(args: argparse.Namespace) -> dict[str, Any]:
    """What identifies a run, besides the loop's settings."""
    start = args.from_adapter
    return {
        'data': file_sha256(args.data),
        'base': model_identity(args.base),
        'rank': args.rank,
        'from_adapter': start and file_sha256(start),
    }


def main(argv: Optional[Sequence[str]] = None) -> None:
    """Train the adapter."""
    parser = argparse.ArgumentParser(description='Trains the reply adapter')
    parser.add_argument('--data', required=True)
    parser.add_argument('--base', default='shipped:q2_mini/question_generation')
    parser.add_argument('--outdir', type=Path, required=True)
    parser.add_argument('--rank', type=int, default=32)
    parser.add_argument(
        '--from-adapter', type=Path, help='continue from this adapter.int8.safetensors'
    )
    parser.add_argument('--steps', type=int, default=575)
    parser.add_argument('--batch-size', type=int, default=24)
    parser.add_argument('--learning-rate', type=float, default=2e-3)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--device', default='cpu', help='cpu or cuda')
    args = parser.parse_args(argv)
    check_apart(args.outdir, resolve(args.base))
    check_apart(args.outdir / ADAPTER_WEIGHTS, args.from_adapter)
    identity = identity_of(args)

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    rows = read_rows(args.data)
    rng.shuffle(rows)
    model, tokenizer = load_seq2seq(args.base)
    job = TextJob(tokenizer, REPLIES)
    job.valid, data = job.encode(rows[:HELD_OUT]), job.encode(rows[HELD_OUT:])
    model.train().requires_grad_(True)
    add_adapters(model, args.rank)
    if args.from_adapter:
        continue_from(model, load_int8(args.from_adapter))
    settings = LoopSettings(
        steps=args.steps,
        batch_size=args.batch_size,
        learning_rate=args.learning_rate,
        seed=args.seed,
    )
    log = train(
        model,
        job,
        data,
        settings,
        args.outdir,
        rng,
        args.device,
        identity=identity,
    )
    model.cpu()
    save_int8(adapter_state(model), args.outdir / ADAPTER_WEIGHTS)
    given = {k: str(v) if isinstance(v, Path) else v for k, v in vars(args).items()}
    report = {'settings': given, 'log': log}
    write_text(args.outdir / LOG, json.dumps(report, indent=1) + '\n')
    drop_checkpoint(args.outdir)


if __name__ == '__main__':
    main()
