"""
Fuzz: every reader of files, on thousands of damaged and made-up files. Each must give
records or an error of parlai_q2's own that names the file; none may do anything else.

``PARLAI_Q2_FUZZ`` sets how many inputs each reader gets (default 400; the whole run has
eight readers).
"""

import csv
import json
import os
import random
from pathlib import Path

import pytest

from parlai_q2.errors import InputError, Q2Error
from parlai_q2.io.read import read_records
from parlai_q2.models.engine.int8_weights import load_int8
from parlai_q2.presets import load_preset
from parlai_q2.report.scored_file import read_scored_file
from parlai_q2.rerank.pools import read_pools

INPUTS = int(os.environ.get('PARLAI_Q2_FUZZ', '400'))
RECORD = {
    'knowledge': 'Bees have five eyes.',
    'response': 'They have five eyes 🐝.',
    'history': ['Hello', 'Hi "you"'],
    'id': 7,
}
SCORED = {
    **RECORD,
    'score': 1.0,
    'label': 'consistent',
    'fallback': False,
    'parts': {'nli': 0.5},
    'verdicts': [
        {
            'question': 'How many?',
            'response_answer': 'five',
            'response_span': [10, 14],
            'knowledge_answer': 'five',
            'knowledge_span': [10, 14],
            'comparison': 'exact',
            'score': 1.0,
            'f1': 1.0,
        }
    ],
}
POOL = {**RECORD, 'candidates': ['yes', {'text': 'no', 'score': -3, 'tokens': 2}]}
CANDIDATE = {'text': 'yes', 'chosen': True, 'first': True, 'reason': 'best score'}
RANKED = {
    **POOL,
    'text': 'yes',
    'order': [0, 1],
    'abstained': False,
    'rerank': [
        {**SCORED, **CANDIDATE},
        {'text': 'no', 'score': None, 'guards': ['copy'], 'prefilter_score': 0.1},
    ],
}
LOG = {'dialog': [[{'id': 'task', 'text': 'a', **RECORD}, {'id': 'm', 'text': 'b'}]]}
PRESET = """
models:
  nli: {model: some/where, labels: [entailment, neutral, contradiction]}
q2: {variant: single}
"""
# What json may hold in place of what it should.
ODD = [None, True, -1, 1e308, float('nan'), '', ' ', '\0', [], [[]], {}, {'a': 1}]
ODD.append('x' * 99)
ODD_BYTES = [
    b'\xff\xfe',
    b'\0',
    b'\r',
    b'\n\n',
    b'"',
    b'{',
    b']',
    b',',
    b'\xed\xa0\x80',
]


def json_line(value, rng):
    """A record in which some values, at any depth, are of another kind."""

    def damage(item):
        if rng.random() < 0.12:
            return rng.choice(ODD)
        if isinstance(item, dict):
            return {k: damage(v) for k, v in item.items() if rng.random() > 0.05}
        if isinstance(item, list):
            return [damage(v) for v in item]
        return item

    return json.dumps(damage(value), ensure_ascii=rng.random() < 0.5)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes with up to four pieces overwritten, cut out, or put in."""
    data = bytearray(data)
    for _ in range(rng.randrange(5)):
        at = rng.randrange(len(data) + 1)
        end = min(len(data), at + rng.randrange(1, 40))
        data[at:end] = rng.choice([b'', rng.choice(ODD_BYTES), rng.randbytes(5)])
    return bytes(data)


def json_file(value, rng):
    lines = [json_line(value, rng) for _ in range(rng.randrange(4))]
    return damaged('\n'.join(lines).encode(), rng)


def delimited_file(delimiter, path, rng):
    with open(path, 'w', encoding='utf-8', newline='') as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(['knowledge', 'response', 'id'])
        for _ in range(rng.randrange(4)):
            writer.writerow([RECORD['knowledge'], 'a "b"\n c', rng.random()])
    path.write_bytes(damaged(path.read_bytes(), rng))


def check_records(path):
    for record in read_records(path):
        assert (record.example is None) != (record.error is None)
        if record.error:
            assert path.name in str(record.error)


def check_pools(path):
    for pool in read_pools(path):
        assert pool.error or pool.candidates


def check_scored(path):
    for entry in read_scored_file(path):
        assert isinstance(entry, (dict, InputError))


READERS = {
    'records.jsonl': (lambda p, r: p.write_bytes(json_file(RECORD, r)), check_records),
    'records.csv': (lambda p, r: delimited_file(',', p, r), check_records),
    'records.tsv': (lambda p, r: delimited_file('\t', p, r), check_records),
    'scores.jsonl': (lambda p, r: p.write_bytes(json_file(SCORED, r)), check_scored),
    'ranked.jsonl': (lambda p, r: p.write_bytes(json_file(RANKED, r)), check_scored),
    'logs.jsonl': (lambda p, r: p.write_bytes(json_file(LOG, r)), check_scored),
    'pools.jsonl': (lambda p, r: p.write_bytes(json_file(POOL, r)), check_pools),
    'preset.yaml': (
        lambda p, r: p.write_bytes(damaged(PRESET.encode(), r)),
        lambda p: load_preset(str(p)),
    ),
}


@pytest.mark.parametrize('name', READERS)
def test_a_reader_gives_records_or_an_error_of_ours(name, tmp_path: Path):
    write, check = READERS[name]
    path = tmp_path / name
    for seed in range(INPUTS):
        write(path, random.Random(seed))
        try:
            check(path)
        except Q2Error as error:
            assert str(error).strip(), f'seed {seed}: an error without a word'
        except Exception as error:
            raise AssertionError(f'seed {seed}: {path.read_bytes()!r}') from error


def test_damaged_weights_are_an_error_of_ours(tmp_path):
    import torch

    from parlai_q2.models.engine.int8_weights import save_int8

    path = tmp_path / 'model.int8.safetensors'
    save_int8({'a.weight': torch.randn(4, 6), 'a.bias': torch.randn(4)}, path)
    whole = path.read_bytes()
    for seed in range(INPUTS):
        path.write_bytes(damaged(whole, random.Random(seed)))
        try:
            load_int8(path)
        except Q2Error as error:
            assert path.name in str(error)
