"""
Damaged files, at random but always the same: 400 for each reader. Nothing may end in
anything but an error of ours of one line, and what can be read is.
"""

import json
import random

import pytest

from parlai_q2.errors import Q2Error, RecordError
from parlai_q2.io.read import read_conversations, read_records
from parlai_q2.presets import load_preset
from parlai_q2.report.scored_file import read_scored_file
from parlai_q2.runs.pool_records import read_pools
from tests.report.samples import reranked, scored

INPUTS = 400
# What JSON may hold in place of what it should, and what may be anywhere in a file.
ODD = [
    *(None, True, -1, 0.5, 10**400, float('nan'), float('inf'), '', 'x', '\ud800'),
    *('\x00', '\u202e', [], {}, [[]], {'': None}, [1, 'a'], {'text': 3}, 'NaN'),
]
BYTES = [bytes([byte]) for byte in b'\x00\xff"\n\r,\t{]\\'] + [b'\xef\xbb', b'\xff\xfe']
RECORD = {
    'knowledge': ['Bees.', {'title': 'Bee', 'text': 'Bees have five eyes.'}],
    'response': 'They have five eyes 🐝.',
    'history': ['Hello', 'Hi "you"'],
    'id': 7,
}
POOL = {**RECORD, 'candidates': ['yes', {'text': 'no', 'score': -3, 'tokens': 2}]}
LOG = {'dialog': [[{'id': 'task', 'text': 'a', **RECORD}, {'id': 'm', 'text': 'b'}]]}
ROWS = 'knowledge,response,history\n"K, k","R\n2",h\nK,"R ""q""",h\n'
PRESET = """
base: mini
nli: {model: some/where, labels: [entailment, neutral, contradiction]}
q2: {variant: single}
"""


def damaged(content: bytes, rng: random.Random) -> bytes:
    """The content with one to eight bytes replaced, put in, left out or doubled."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        at = rng.randrange(len(changed) + 1)
        way = rng.randrange(4)
        if way == 0:
            changed[at:at] = rng.choice(BYTES)
        elif way == 1:
            changed[at : at + 1] = bytes([rng.randrange(256)])
        elif way == 2:
            del changed[at : at + rng.randint(1, 9)]
        else:
            changed[at:at] = changed[at : at + rng.randint(1, 40)]
    return bytes(changed)


def odd(value, rng: random.Random):
    """The value with something else in one place of it."""
    inside = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    if not inside:
        return rng.choice(ODD)
    key, old = rng.choice(inside)
    deeper = isinstance(old, (dict, list)) and rng.random() < 0.7
    new = odd(old, rng) if deeper else rng.choice(ODD)
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = new
    return changed


def lines(value):
    """Makes JSON lines: three good ones with damaged bytes, or one with odd values."""

    def make(rng):
        if rng.random() < 0.5:
            return damaged((json.dumps(value) + '\n').encode() * 3, rng)
        changed = odd(odd(value, rng), rng)
        return json.dumps(changed, ensure_ascii=rng.random() < 0.5).encode(
            errors='replace'
        )

    return make


def table(delimiter):
    return lambda rng: damaged(ROWS.replace(',', delimiter).encode(), rng)


def records(path):
    for record in read_records(path):
        assert (record.parsed is None) == isinstance(record.error, RecordError)
        yield record.parsed


def world_logs(path):
    for record in read_records(path, 'world_logs'):
        yield record.parsed


def pools(path):
    for record in read_pools(path):
        assert record.error or record.parsed.candidates
        yield None if record.error else record.parsed.knowledge


def entries(path):
    for entry in read_scored_file(path):
        if isinstance(entry, RecordError):
            yield None
        else:
            yield json.dumps(entry, allow_nan=False)


def conversations(path):
    for record in read_conversations(path):
        yield None if isinstance(record, RecordError) else record


READERS = {
    'records.jsonl': (lines(RECORD), records),
    'records.csv': (table(','), records),
    'records.tsv': (table('\t'), records),
    'world_logs.jsonl': (lines(LOG), world_logs),
    'pools.jsonl': (lines(POOL), pools),
    'scores.jsonl': (lines(scored()), entries),
    'ranked.jsonl': (lines(reranked()), entries),
    'conversations.jsonl': (lines(LOG), conversations),
    'preset.yaml': (
        lambda rng: damaged(PRESET.encode(), rng),
        lambda path: [load_preset(str(path))],
    ),
}


@pytest.mark.parametrize('name', READERS)
def test_a_reader_gives_what_it_can_and_an_error_of_ours_for_the_rest(name, tmp_path):
    make, read = READERS[name]
    path, good, bad = tmp_path / name, 0, 0
    for seed in range(INPUTS):
        path.write_bytes(make(random.Random(seed)))
        try:
            for record in read(path):
                good += record is not None
                bad += record is None
        except Q2Error as error:
            assert len(str(error).splitlines()) == 1, f'seed {seed}: {error}'
            bad += 1
        except Exception as error:
            raise AssertionError(f'seed {seed}: {path.read_bytes()!r}') from error
    assert good > INPUTS / 20
    assert bad > INPUTS / 20
