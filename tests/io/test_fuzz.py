"""
Damaged files, at random but always the same: 2,000 for the readers of records, 500 of
conversations, 150 score caches and 500 of their rows, 200 records of a report. Nothing
may end in anything but an error of ours, and what can be read is.
"""

import json
import random

import pytest

from parlai_q2.cache import CachedScorer, ScoreCache
from parlai_q2.cache.rows import checksum_of, decode, encode
from parlai_q2.errors import ConfigError, InputError, RecordError
from parlai_q2.io.read import read_conversations, read_records
from parlai_q2.records import Score
from parlai_q2.report.entries import read_entry
from tests.cache.counting import SIGNATURE, CountingScorer, examples, scores
from tests.report.samples import reranked, scored

ODD = [
    *(None, True, -1, 0.5, 10**400, float('nan'), float('inf'), '', 'x', '\ud800'),
    *('\x00', '\u202e', [], {}, [[]], {'': None}, [1, 'a'], {'text': 3}, 'NaN'),
]
BYTES = [
    b'\x00',
    b'\xff',
    b'"',
    b'\n',
    b'\r',
    b',',
    b'\t',
    b'{',
    b']',
    b'\\',
    b'\xef\xbb',
]
SEEDS = {
    'jsonl': b'{"id": 1, "knowledge": "K.", "response": "R.", "x": [1e5, {"y": 0}]}\n',
    'csv': b'knowledge,response,history\n"K, k","R\n2",h\nK,R,h\n',
    'tsv': b'knowledge\tresponse\nK\t"R ""q"""\nK\tR\n',
    'world_logs': b'{"dialog": [[{"text": "a", "knowledge": "K"}, {"text": "b"}]]}\n',
}


def damaged(content: bytes, rng: random.Random) -> bytes:
    """
    The content with one to eight changes: bytes replaced, put in, left out or doubled.
    """
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
    inside = [(k, v) for k, v in inside]
    if not inside:
        return rng.choice(ODD)
    key, old = rng.choice(inside)
    deeper = isinstance(old, (dict, list)) and rng.random() < 0.7
    new = odd(old, rng) if deeper else rng.choice(ODD)
    changed = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = new
    return changed


@pytest.mark.parametrize('format', SEEDS)
def test_records_of_damaged_files(tmp_path, format):
    rng, path = random.Random(format), tmp_path / 'file'
    read = bad = 0
    for _ in range(500):
        path.write_bytes(damaged(SEEDS[format] * 3, rng))
        try:
            for record in read_records(path, format):
                assert (record.example is None) == isinstance(record.error, RecordError)
                read += record.example is not None
                bad += record.example is None
        except InputError:
            bad += 1
    assert read > 300 and bad > 100


def test_conversations_of_damaged_files(tmp_path):
    rng, path = random.Random(1), tmp_path / 'file'
    kinds = set()
    for n in range(500):
        content = SEEDS['world_logs'] * 2
        if n % 2:
            content = json.dumps(odd(json.loads(SEEDS['world_logs']), rng)).encode()
        path.write_bytes(content if n % 2 else damaged(content, rng))
        try:
            kinds |= {type(found) for found in read_conversations(path)}
        except InputError:
            kinds.add(InputError)
    assert kinds >= {list, RecordError}


def test_caches_with_damaged_bytes(tmp_path):
    whole = tmp_path / 'whole.sqlite'
    wanted, hits, refused = CountingScorer().score(examples(60)), 0, 0
    first = CachedScorer(CountingScorer(), ScoreCache(whole))
    first.score(examples(60))
    first.cache.close()
    content, rng = whole.read_bytes(), random.Random(2)
    for n in range(150):
        path = tmp_path / f'{n}.sqlite'
        changed = bytearray(content)
        for _ in range(rng.choice([1, 1, 8, 64])):
            # Half of them in the file's head, where the tables are described.
            end = 700 if rng.random() < 0.5 else len(content)
            changed[rng.randrange(end)] = rng.randrange(256)
        path.write_bytes(changed)
        scorer = CachedScorer(CountingScorer(), ScoreCache(path))
        try:
            assert scorer.score(examples(60)) == wanted
            assert scorer.score(examples(60)) == wanted
        except ConfigError as e:
            # Nothing in it shows that it was a cache.
            assert 'not a parlai_q2 score cache' in str(e)
            refused += 1
            continue
        hits += scorer.hits
        scorer.cache.close()
    assert hits > 150 * 60 and refused < 8


def test_rows_with_odd_values():
    rng, good = random.Random(3), 0
    fields = json.loads(encode(scores(1).popitem()[1], SIGNATURE, b'key')[0])
    for _ in range(500):
        value = json.dumps(odd(fields, rng)).encode()
        found = decode(value, checksum_of(value, SIGNATURE, b'key'), SIGNATURE, b'key')
        if found is not None:
            assert isinstance(found, Score) and 0 <= found.value <= 1
            json.dumps(found.to_dict(), allow_nan=False)
            good += 1
    assert 0 < good < 300


def test_entries_of_odd_records():
    rng, good = random.Random(4), 0
    for n in range(200):
        record = odd(scored() if n % 2 else reranked(), rng)
        try:
            entry = read_entry(record)
        except InputError:
            continue
        good += 1
        json.dumps(entry, allow_nan=False)
    assert good > 50
