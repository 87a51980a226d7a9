"""
Trains a question answerer, which finds where the answer begins and ends in a text.

    python -m parlai_q2.zoo.train.train_answers --rows qa.train.jsonl.xz \
      --held-out qa.valid.jsonl.gz --initial thenlper/gte-small --outdir out --epochs 4

A row has ``q`` (question), ``c`` (text), ``a`` (answer) and ``s`` (its offset; -1: the
text has no answer). The loss is that of SQuAD 2.0 (Devlin et al. 2019): cross-entropy
of the start and of the end, with ``[CLS]`` for no answer.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from transformers import AutoModelForQuestionAnswering, DataCollatorWithPadding

from parlai_q2.models.loading import load_model, load_tokenizer
from parlai_q2.models.question_answering import SpanQuestionAnswerer
from parlai_q2.presets import ModelConfig
from parlai_q2.text.overlap import token_f1
from parlai_q2.zoo.train.rows import Row, read_rows
from parlai_q2.zoo.train.training import base_parser, save_model, train_model

Sample = dict[str, Any]


def encode_rows(rows: Sequence[Row], tokenizer: Any, max_tokens: int) -> list[Sample]:
    """Encode rows as samples; leave out rows whose answer is cut off with the text."""
    encoded = tokenizer(
        [row['q'] for row in rows],
        [row['c'] for row in rows],
        truncation='only_second',
        max_length=max_tokens,
        return_offsets_mapping=True,
        return_token_type_ids=True,
    )
    samples = []
    for n, row in enumerate(rows):
        sample = {'input_ids': encoded['input_ids'][n]}
        sample['token_type_ids'] = encoded['token_type_ids'][n]
        owners = encoded.sequence_ids(n)
        span = answer_tokens(row, encoded['offset_mapping'][n], owners)
        if span:
            sample['start_positions'], sample['end_positions'] = span
            samples.append(sample)
    return samples


def answer_tokens(
    row: Row, offsets: Sequence[tuple[int, int]], owners: Sequence[int | None]
) -> tuple[int, int] | None:
    """
    The first and the last token of a row's answer.

    :param offsets: the characters of each of L tokens.
    :param owners: 1 for tokens of the text.
    :return: (0, 0), ``[CLS]``, if the row has no answer; None if it was cut off.
    """
    if row['s'] < 0:
        return 0, 0
    first, last = row['s'], row['s'] + len(row['a'])
    tokens = [
        n
        for n, (start, end) in enumerate(offsets)
        if owners[n] == 1 and first < end and start < last
    ]
    if not tokens or offsets[tokens[-1]][1] < last:
        return None
    return tokens[0], tokens[-1]


def measure(rows: Sequence[Row], model: Path, max_tokens: int) -> dict[str, float]:
    """
    Measure how well a converted model answers held-out rows.

    :return: ``answer_f1`` over the rows with an answer, where silence counts 0, and
        ``no_answer_recall`` over the others. Measures without rows are left out.
    """
    answerer = SpanQuestionAnswerer(ModelConfig(str(model)), max_tokens=max_tokens)
    spans = answerer.answer([(row['q'], row['c']) for row in rows])
    texts = [span.text if span else '' for span in spans]
    values: dict[str, list[float]] = {}
    for row, text in zip(rows, texts, strict=True):
        if row['s'] >= 0:
            values.setdefault('answer_f1', []).append(token_f1(row['a'], text))
        else:
            values.setdefault('no_answer_recall', []).append(float(not text))
    return {name: fmean(of_rows) for name, of_rows in values.items()}


def train(args: argparse.Namespace) -> dict[str, float]:
    """Train, write the model, and return what :func:`measure` gives for it."""
    tokenizer = load_tokenizer(args.initial)
    model = load_model(args.initial, AutoModelForQuestionAnswering)
    samples = encode_rows(read_rows(*args.rows), tokenizer, args.max_tokens)
    trained = train_model(args, model, samples, DataCollatorWithPadding(tokenizer))
    converted = save_model(trained, args.initial, args.outdir)
    return measure(read_rows(*args.held_out), converted, args.max_tokens)


def main(argv: Sequence[str] | None = None) -> None:
    """Train a question answerer."""
    parser = base_parser('Trains a question answerer')
    for name, value in train(parser.parse_args(argv)).items():
        print(f'{name} {value:.3f}')


if __name__ == '__main__':
    main()
