"""
Trains the reply adapter: a low-rank term on the frozen question-generation weights.

    python -m parlai_q2.zoo.train.reply_adapter --data reply.train.jsonl.xz --outdir out

Input: JSON lines, plain or .gz or .xz, with ``k`` (knowledge sentence), ``h`` (turns
before) and ``r`` (reply). Output: ``adapter.int8.safetensors`` and ``training.json``
(the settings and the logged losses). ``--full`` trains all weights instead, from
``--base``: it is how the adapter was compared with a model that serves replies alone.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path

import torch

from parlai_q2.models.int8 import load_int8, save_int8
from parlai_q2.models.loading import load_seq2seq
from parlai_q2.models.lora import adapter_state, add_adapters, continue_from
from parlai_q2.models.prompts import reply_prompt
from parlai_q2.zoo.train.data import read_rows

MAX_PROMPT, MAX_REPLY = 160, 64  # tokens, the end token included
Pair = tuple[list[int], list[int]]


def encode(rows: list[dict], tokenizer) -> list[Pair]:
    """
    Prompts and replies as token ids, each ended by the end token.

    :param rows: records with ``k``, ``h`` and ``r``.
    :param tokenizer: a tokenizer that adds no special tokens of its own.
    :return: one pair of id lists a row.
    """
    prompts = [reply_prompt(r['h'], r['k']) for r in rows]
    ids = tokenizer(prompts, add_special_tokens=False)['input_ids']
    out = tokenizer([r['r'] for r in rows], add_special_tokens=False)['input_ids']
    end = tokenizer.eos_token_id
    return [
        (i[: MAX_PROMPT - 1] + [end], o[: MAX_REPLY - 1] + [end])
        for i, o in zip(ids, out, strict=True)
    ]


def collate(batch: list[Pair], pad: int) -> dict:
    """
    Pad a batch to its longest members.

    :return: input_ids and attention_mask [B, L]; labels [B, L'], -100 where padded.
    """

    def padded(rows: list[list[int]], value: int) -> torch.Tensor:
        longest = max(map(len, rows))
        return torch.tensor([r + [value] * (longest - len(r)) for r in rows])

    inputs = padded([i for i, _ in batch], pad)
    return {
        'input_ids': inputs,
        'attention_mask': (inputs != pad).long(),
        'labels': padded([o for _, o in batch], -100),
    }


def batches(data: list[Pair], size: int, rng: random.Random) -> list[list[Pair]]:
    """
    One epoch of shuffled batches whose members are of similar length.
    """
    data = rng.sample(data, len(data))
    out = []
    for start in range(0, len(data), size * 50):
        block = sorted(data[start : start + size * 50], key=lambda p: len(p[0]))
        out += [block[i : i + size] for i in range(0, len(block), size)]
    rng.shuffle(out)
    return out


@torch.no_grad()
def valid_loss(model, data: list[Pair], pad: int) -> float:
    """
    Mean negative log-likelihood a token, in nats.
    """
    model.eval()
    total = tokens = 0.0
    for start in range(0, len(data), 32):
        batch = collate(data[start : start + 32], pad)
        count = int((batch['labels'] != -100).sum())
        with torch.autocast('cpu', dtype=torch.bfloat16):
            total += model(**batch).loss.item() * count
        tokens += count
    model.train()
    return total / tokens


def save(model, args) -> None:
    """
    Write what was trained so far, in the form it ships in.
    """
    if args.full:
        save_int8(model.state_dict(), args.outdir / 'model.int8.safetensors')
    else:
        save_int8(adapter_state(model), args.outdir / 'adapter.int8.safetensors')


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--data', required=True)
    parser.add_argument('--base', default='shipped:q2_mini/question_generation')
    parser.add_argument('--outdir', type=Path, required=True)
    parser.add_argument('--rank', type=int, default=32)
    parser.add_argument(
        '--from-adapter', type=Path, help='go on from this adapter.int8.safetensors'
    )
    parser.add_argument('--full', action='store_true', help='train all weights')
    parser.add_argument('--steps', type=int, default=575)
    parser.add_argument('--batch-size', type=int, default=24)
    parser.add_argument('--learning-rate', type=float, default=2e-3)
    parser.add_argument('--seed', type=int, default=1)
    args = parser.parse_args(argv)

    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = random.Random(args.seed)
    rows = read_rows(args.data)
    rng.shuffle(rows)
    model, tokenizer = load_seq2seq(args.base)
    valid, train = encode(rows[:400], tokenizer), encode(rows[400:], tokenizer)
    model.train().requires_grad_(True)
    if not args.full:
        add_adapters(model, args.rank)
        if args.from_adapter:
            continue_from(model, load_int8(args.from_adapter))
    weights = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(
        weights, lr=args.learning_rate, weight_decay=0.0, fused=True
    )
    log, step, start, recent = [], 0, time.time(), []
    args.outdir.mkdir(parents=True, exist_ok=True)
    while step < args.steps:
        for batch in batches(train, args.batch_size, rng):
            if step >= args.steps:
                break
            warm = min(1.0, (step + 1) / max(1, 0.03 * args.steps))
            for group in optimizer.param_groups:
                group['lr'] = args.learning_rate * warm * (1 - step / args.steps)
            with torch.autocast('cpu', dtype=torch.bfloat16):
                loss = model(**collate(batch, tokenizer.pad_token_id)).loss
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.step()
            step += 1
            recent.append(loss.item())
            if not math.isfinite(recent[-1]):
                raise SystemExit(
                    f'The loss is {recent[-1]} at step {step}; lower the rate.'
                )
            if step % 50 == 0 or step == args.steps:
                entry = {'step': step, 'train': round(sum(recent) / len(recent), 4)}
                if step % 200 == 0 or step == args.steps:
                    entry['valid'] = round(valid_loss(model, valid, 0), 4)
                    save(model, args)
                entry['seconds'] = round(time.time() - start)
                log.append(entry)
                recent = []
                print(json.dumps(entry), flush=True)
    settings = {k: str(v) if isinstance(v, Path) else v for k, v in vars(args).items()}
    save(model, args)
    report = {'settings': settings, 'log': log}
    (args.outdir / 'training.json').write_text(json.dumps(report, indent=1) + '\n')


if __name__ == '__main__':
    main()
