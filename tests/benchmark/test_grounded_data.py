"""The examples that are fitted on, and how any scorer does on them."""

import gzip
import json
import sys

import pytest

from benchmarks import grounded_data

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


def test_four_kinds_of_examples_each_with_what_is_true(files, monkeypatch):
    out = files / 'examples.jsonl'
    words = ['--begin', files, '--dial', files / 'dial.jsonl.gz', '--outfile', out]
    words += ['--pairs', files / 'pairs.jsonl.gz']
    monkeypatch.setattr(sys, 'argv', ['x', *map(str, words)])
    monkeypatch.setattr(grounded_data, 'PER_KIND', 2)
    grounded_data.main()
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    kinds = sorted((r['corpus'], r['q2_label'], r['kind']) for r in rows)
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
    twins = [k[1] for k in kinds if k[0] == 'twins']
    assert twins.count('consistent') == twins.count('inconsistent') > 200
    assert len({r['id'] for r in rows}) == len(rows)
