"""The examples that are fitted on, and how any scorer does on them."""

import gzip
import json
import sys

import pytest

from parlai_q2.errors import InputError
from parlai_q2.zoo.train import grounded_data
from parlai_q2.zoo.train.by_corpus import rows_of

KNOWLEDGE = 'Steven Spielberg directed Jaws in 1975.'
BEGIN = ['model_name', 'data_source', 'knowledge', 'message', 'response', 'begin_label']


@pytest.fixture
def files(tmp_path):
    for corpus in grounded_data.BEGIN_CORPORA:
        path = tmp_path / f'begin_dev_{corpus}.tsv'
        # As published: tabs, and quotation marks that quote nothing.
        rows = [BEGIN]
        for response, label in [
            ('it is "Jaws', 'Fully attributable'),
            ('so nice', 'Generic'),
            ('it is new', 'Not fully attributable'),
            (' ', 'Generic'),
        ]:
            rows.append(['t5', corpus, KNOWLEDGE, 'hi', response, label])
        path.write_text(''.join('\t'.join(row) + '\n' for row in rows))
    turn = {'k': KNOWLEDGE, 'r': 'Jaws was directed by Steven Spielberg in 1975'}
    turns = [{**turn, 'f1': 0.9}, {**turn, 'r': 'a b c d e f', 'f1': 0.1}]
    pairs = [
        {'p': 'p', 'h': f'h{n}', 'y': n % 4, 'src': 'd-x' if n < 12 else 'snli'}
        for n in range(20)
    ]
    for name, rows in (('dial', turns), ('pairs', pairs)):
        with gzip.open(tmp_path / f'{name}.jsonl.gz', 'wt') as stream:
            stream.writelines(json.dumps(row) + '\n' for row in rows)
    return tmp_path


def make(files, monkeypatch):
    out = files / 'examples.jsonl'
    command = [
        'x',
        '--begin',
        files,
        '--dial',
        files / 'dial.jsonl.gz',
        '--outfile',
        out,
    ]
    command += ['--pairs', files / 'pairs.jsonl.gz', '--per-kind', 2]
    monkeypatch.setattr(sys, 'argv', [str(word) for word in command])
    grounded_data.main()
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_three_kinds_of_examples_each_with_what_is_true(files, monkeypatch):
    found = make(files, monkeypatch)
    kinds = sorted((r['corpus'], r['q2_label'], r['kind']) for r in found)
    begin = [
        (corpus, label, 't5')
        for corpus in ('cmu', 'tc', 'wow')
        for label in ('consistent', 'generic', 'inconsistent')
    ]
    # Two of each class of pairs, unsupported and contradicted ones being one label.
    pairs = [
        ('pairs', label, 'd-x')
        for label in ('consistent', 'generic', 'inconsistent', 'inconsistent')
        for _ in range(2)
    ]
    assert [k for k in kinds if k[0] in ('cmu', 'tc', 'wow')] == begin
    assert [k for k in kinds if k[0] == 'pairs'] == pairs
    right, wrong = [k for k in kinds if k[0] == 'swaps']
    assert (right[1:], wrong[1]) == (('consistent', 'turn'), 'inconsistent')
    assert len({r['id'] for r in found}) == len(found)


def test_the_same_seed_gives_the_same_file(files, monkeypatch):
    assert make(files, monkeypatch) == make(files, monkeypatch)


def line(corpus, label, score, **more):
    return json.dumps({'corpus': corpus, 'q2_label': label, 'score': score, **more})


def test_auc_and_balanced_accuracy_by_hand(tmp_path):
    path = tmp_path / 'scored.jsonl'
    path.write_text(
        '\n'.join(
            [
                line('a', 'consistent', 0.9, signature='q2|threshold:0.6|version:1'),
                line('a', 'consistent', 0.3),
                line('a', 'inconsistent', 0.5),
                line('a', 'generic', 1.0),
                line('b', 'consistent', 0.7),
                line('b', 'inconsistent', 0.7),
                '{"q2_label": "consistent", "corpus": "a", "error": "bad"}',
            ]
        )
    )
    a, b, mean = rows_of(str(path))
    # One of two is above 0.5; at 0.6, half of the right and all of the wrong are right.
    assert a == ('a', 3, 0.5, 0.75)
    # A tie is half; both are above 0.6.
    assert b == ('b', 2, 0.5, 0.5)
    assert mean == ('mean', 5, 0.5, 0.625)


def test_a_file_without_both_classes_is_refused(tmp_path):
    path = tmp_path / 'scored.jsonl'
    path.write_text(line('a', 'consistent', 1.0))
    with pytest.raises(InputError, match='grounded_data'):
        rows_of(str(path))
