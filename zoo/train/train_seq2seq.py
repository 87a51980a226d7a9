"""
Trains a generator: of questions, or of replies.

    python -m parlai_q2.zoo.train.train_seq2seq questions --rows qg.train.jsonl.xz \
      --held-out qg.valid.jsonl.gz --initial google/flan-t5-small --outdir out

A row for ``questions`` has ``a`` (answer), ``c`` (its sentence) and ``q`` (question);
for ``replies`` it has ``k`` (knowledge), ``h`` (the turns before) and ``r`` (reply).
The loss is the mean negative log-likelihood of a token. For replies,
``common_tokens.json`` lists the most frequent tokens, which the shipped generator may
write in any context (:mod:`parlai_q2.generate.generator`).
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from transformers import DataCollatorForSeq2Seq

from parlai_q2.models.loading import load_seq2seq
from parlai_q2.models.prompts import reply_prompt
from parlai_q2.models.question_generation import question_prompt
from parlai_q2.zoo.train.rows import Row, read_rows
from parlai_q2.zoo.train.training import base_parser, chunks, save_model, train_model

MAX_OUTPUT = 64  # tokens, with the end token
MOST_COMMON = 6000
COMMON_TOKENS = 'common_tokens.json'
BATCH = 32
Sample = dict[str, list[int]]
# The model's input and output for a row, by task.
TASKS: dict[str, Callable[[Row], tuple[str, str]]] = {
    'questions': lambda row: (question_prompt(row['a'], row['c']), row['q']),
    'replies': lambda row: (reply_prompt(row['h'], row['k']), row['r']),
}


def encode_rows(
    rows: Sequence[Row], task: str, tokenizer: Any, max_tokens: int
) -> list[Sample]:
    """``input_ids`` and ``labels`` of each row, both with the end token."""
    texts = [TASKS[task](row) for row in rows]
    return [
        {
            'input_ids': _ids(prompt, tokenizer, max_tokens),
            'labels': _ids(output, tokenizer, MAX_OUTPUT),
        }
        for prompt, output in texts
    ]


def _ids(text: str, tokenizer: Any, most: int) -> list[int]:
    ids = tokenizer(text, add_special_tokens=False)['input_ids']
    return [*ids[: most - 1], tokenizer.eos_token_id]


@torch.inference_mode()
def measure(model: Any, samples: Sequence[Sample], collate: Any) -> dict[str, float]:
    """``nats_per_token`` of held-out samples; empty if there are none."""
    total = tokens = 0.0
    for part in chunks(samples, BATCH):
        batch = collate(part)
        count = int((batch['labels'] != -100).sum())
        total += model(**batch).loss.item() * count
        tokens += count
    return {'nats_per_token': total / tokens} if tokens else {}


def common_tokens(rows: Sequence[Row], tokenizer: Any) -> list[str]:
    """The most frequent tokens of the rows' replies, sorted."""
    counts: Counter[str] = Counter()
    for row in rows:
        counts.update(tokenizer.tokenize(row['r']))
    return sorted(token for token, _ in counts.most_common(MOST_COMMON))


def train(args: argparse.Namespace) -> dict[str, float]:
    """Train, write the model, and return what :func:`measure` gives for it."""
    model, tokenizer = load_seq2seq(args.initial)
    collate = DataCollatorForSeq2Seq(tokenizer)  # labels are padded with -100
    rows = read_rows(*args.rows)
    samples = encode_rows(rows, args.task, tokenizer, args.max_tokens)
    trained = train_model(args, model, samples, collate)
    converted = save_model(trained, args.initial, args.outdir)
    if args.task == 'replies':
        text = json.dumps(common_tokens(rows, tokenizer), ensure_ascii=False)
        (converted / COMMON_TOKENS).write_text(text + '\n', encoding='utf-8')
    held_out = read_rows(*args.held_out)
    samples = encode_rows(held_out, args.task, tokenizer, args.max_tokens)
    return measure(trained, samples, collate)


def main(argv: Sequence[str] | None = None) -> None:
    """Train a generator."""
    parser = base_parser(
        'Trains a generator', max_tokens=160, learning_rate=5e-4, warm_up=0.03
    )
    parser.add_argument('task', choices=sorted(TASKS))
    for name, value in train(parser.parse_args(argv)).items():
        print(f'{name} {value:.3f}')


if __name__ == '__main__':
    main()
