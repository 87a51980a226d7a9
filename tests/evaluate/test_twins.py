"""Twins: their table, and the sheet that ships."""

import json

import pytest

from parlai_q2.errors import ConfigError, RecordError
from parlai_q2.evaluate.find import read_set
from parlai_q2.evaluate.tables.choices import twins_table
from parlai_q2.tasks.twins.reader import FOLDS, SHEET, read_sheet
from tests.evaluate.helpers import BAD, GOOD, annotated, evaluation

RECORDS = [json.loads(line) for line in SHEET.read_text(encoding='utf-8').splitlines()]


def row(kind, values):
    responses = [
        annotated(n, label, corpus=corpus, extra={'twin': n // 2})
        for n, (label, corpus) in enumerate(
            [(GOOD, 'units'), (BAD, 'units'), (GOOD, 'time'), (BAD, 'time')]
        )
    ]
    table = twins_table(evaluation(responses, values))
    return next(r for r in table.rows if r['kind'] == kind)


def test_a_kind_has_the_shares_seen_in_order_and_kept():
    cells = row('units', [0.9, 0.8, 0.4, 0.1])
    assert (cells['wrong'].mean, cells['order'].mean, cells['kept'].mean) == (0, 1, 1)
    cells = row('time', [0.9, 0.8, 0.4, 0.4])
    assert (cells['wrong'].mean, cells['order'].mean, cells['kept'].mean) == (1, 0.5, 0)
    assert row('all', [0.9, 0.8, 0.4, 0.1])['twins'] == 2


def test_a_twin_is_complete_and_its_sides_differ():
    for record in RECORDS:
        sides = [record[name] for name in ('knowledge', 'right', 'wrong')]
        assert all(text == text.strip() and text for text in sides)
        assert len({text.lower() for text in sides}) == 3


def test_words_choose_kinds_and_classes():
    twins = read_set('twins:time:inconsistent').responses
    assert {r.corpus for r in twins} == {'time'}
    assert {r.label for r in twins} == {BAD}


def test_folds_are_apart_and_a_set_has_one():
    dev, test = (read_set(f'twins:{fold}').responses for fold in FOLDS)
    assert len(dev) + len(test) == 2 * len(RECORDS)
    assert {r.knowledge for r in dev}.isdisjoint(r.knowledge for r in test)
    assert read_set('twins').responses == dev
    with pytest.raises(ConfigError, match='one fold'):
        read_set('twins:dev:test')


def test_a_line_that_is_no_twin_is_named(tmp_path):
    path = tmp_path / 'twins.jsonl'
    path.write_text(json.dumps(RECORDS[0]) + '\n{"kind": "units"}\n')
    with pytest.raises(RecordError, match='line 2'):
        read_sheet(path)
