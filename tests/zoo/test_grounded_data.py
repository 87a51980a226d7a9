"""The examples that are fitted on, and how any scorer does on them."""

import gzip
import json
import sys

import pytest

from parlai_q2.errors import InputError
from parlai_q2.zoo.train import grounded_data
from parlai_q2.zoo.train.by_corpus import aucs

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


def test_three_kinds_of_examples_each_with_what_is_true(files, monkeypatch):
    out = files / 'examples.jsonl'
    words = ['--begin', files, '--dial', files / 'dial.jsonl.gz', '--outfile', out]
    words += ['--pairs', files / 'pairs.jsonl.gz']
    monkeypatch.setattr(sys, 'argv', ['x', *map(str, words)])
    monkeypatch.setattr(grounded_data, 'PER_KIND', 2)
    grounded_data.main()
    found = [json.loads(line) for line in out.read_text().splitlines()]
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


def scored(path, *rows):
    """Writes rows of corpus, whether consistent, and score; a passage each."""
    lines = [
        {
            'id': str(n),
            'corpus': corpus,
            'knowledge': f'k{n}',
            'q2_label': 'consistent' if right else 'inconsistent',
            'score': score,
        }
        for n, (corpus, right, score) in enumerate(rows)
    ]
    lines += [{'q2_label': 'generic', 'score': 1.0}, {'error': 'bad'}]
    path.write_text(''.join(json.dumps(row) + '\n' for row in lines))
    return str(path)


def test_auc_by_corpus_and_the_gain_over_another_file_by_hand(tmp_path):
    one = [('a', 1, 0.9), ('a', 1, 0.4), ('a', 0, 0.6), ('b', 1, 0.7), ('b', 0, 0.7)]
    two = [(corpus, right, 1 - score) for corpus, right, score in one]
    files = [
        scored(tmp_path / f'{n}.jsonl', *rows) for n, rows in enumerate((one, two))
    ]
    a, b, mean = aucs(*files)
    # In "a" one of two is above the wrong one, either way; in "b" a tie is half.
    assert a[:2] == ('a', 3) and [i.mean for i in a[2]] == [0.5, 0.5, 0.0]
    assert b[:2] == ('b', 2) and [i.mean for i in b[2]] == [0.5, 0.5, 0.0]
    assert mean[:2] == ('mean', 5) and [i.mean for i in mean[2]] == [0.5, 0.5, 0.0]
    better = scored(tmp_path / 'c.jsonl', *[(c, right, right) for c, right, _ in one])
    gains = [found[2][2].mean for found in aucs(better, files[0])]
    assert gains == [0.5, 0.5, 0.5]
    assert [len(found) for _, _, found in aucs(better)] == [1, 1, 1]


def test_files_that_cannot_be_compared_are_refused(tmp_path):
    whole = scored(tmp_path / 'w.jsonl', ('a', 1, 0.5), ('a', 0, 0.5))
    with pytest.raises(InputError, match='all examples of the corpus'):
        aucs(scored(tmp_path / 'x.jsonl', ('a', 1, 0.5)))
    more = scored(tmp_path / 'm.jsonl', ('a', 1, 0.5), ('a', 0, 0.5), ('a', 0, 0.5))
    with pytest.raises(InputError, match='different examples'):
        aucs(whole, more)
