"""The detector's rows: their order, and a teacher's logits."""

from collections import Counter

import pytest

from parlai_q2.zoo.train import detector_rows
from parlai_q2.zoo.train.data import read_rows, write_rows


def row(source, label=0, number=0):
    return {'p': 'p', 'h': f'h{number}', 'y': label, 'src': source}


def test_rows_worth_most_come_first_and_no_source_takes_all_of_them(monkeypatch):
    monkeypatch.setattr(detector_rows, 'MOST', 3)
    monkeypatch.setattr(detector_rows, 'GENERAL', {'mnli': 2})
    rows = [row(s, n % 2, n) for s in ('d-tc', 'mnli', 'snli') for n in range(10)]
    found = detector_rows.ordered([*rows, row('anli'), row('fever')])
    # Of either class three dialogue rows and two of mnli; snli only afterwards.
    first = Counter((r['src'], r['y']) for r in found[:11])
    assert first == {
        ('d-tc', 0): 3,
        ('d-tc', 1): 3,
        ('mnli', 0): 2,
        ('mnli', 1): 2,
        ('fever', 0): 1,
    }
    assert Counter(r['src'] for r in found[11:]) == {'snli': 10, 'mnli': 6, 'd-tc': 4}
    assert sorted(map(str, found)) == sorted(map(str, [*rows, row('fever')]))


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    def rows():
        yield {'a': 1}
        raise RuntimeError

    path = tmp_path / 'rows.jsonl.xz'
    write_rows(path, [{'a': 0}])
    with pytest.raises(RuntimeError):
        write_rows(path, rows())
    assert read_rows(path) == [{'a': 0}]
