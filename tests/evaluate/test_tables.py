"""The tables' contents, and how they are printed."""

import json
from dataclasses import replace

import pytest

from parlai_q2.evaluate.evaluation import Evaluation
from parlai_q2.evaluate.set_report import all_tables
from parlai_q2.evaluate.sets import AnnotatedSet
from parlai_q2.evaluate.tables.responses import difference_table, means_table
from parlai_q2.evaluate.tables.systems import random_knowledge_table
from parlai_q2.intervals import Interval
from parlai_q2.tables import PAPER, Column, Table, render_text
from tests.evaluate.helpers import BAD, GENERIC, GOOD, annotated, evaluation, measure

TABLE = Table(
    'a_table',
    'A title',
    (
        Column('scorer', 'scorer', repeated=True),
        Column('auc', 'AUC'),
        Column('share', 'share %', 1, 100),
    ),
    (
        {'scorer': 'q2_f1', 'auc': Interval(0.7561, 0.7152, 1.0), 'share': 0.5},
        {'scorer': 'q2_f1', 'source': PAPER, 'share': 1, 'auc': None},
        {'scorer': 'down', 'auc': Interval(-0.3, -0.85, -0.0001)},
    ),
    ('A note & more.',),
)


def test_a_wide_table_is_cut_and_repeats_what_its_rows_are():
    text = render_text(TABLE, width=40)
    assert text.count('scorer') == 2
    assert text.count('q2_f1 (paper)') == 2
    assert max(map(len, text.splitlines())) <= 40
    assert text.index('AUC') < text.index('share %')


SYSTEMS = [
    annotated(0, GOOD, system='one', corpus='c'),
    annotated(1, BAD, system='two', corpus='d'),
    annotated(2, GOOD, system='one', corpus='d'),
    annotated(3, BAD, system='two', corpus='c'),
]
CROSSED = ((SYSTEMS[0], SYSTEMS[1]), (SYSTEMS[2], SYSTEMS[3]))


def rows(table, **where):
    return [r for r in table.rows if all(r.get(k) == v for k, v in where.items())]


def test_every_table_of_a_set_of_one_class_can_be_printed():
    for labels in ([GOOD] * 3, [BAD] * 3, [GENERIC] * 3, [''] * 3):
        responses = [annotated(i, label) for i, label in enumerate(labels)]
        for table in all_tables(evaluation(responses, [0.1, 0.5, 0.9])):
            assert table.title in render_text(table, 1000)
            json.dumps(table.to_dict(), allow_nan=False)


def test_questions_of_two_presets_have_columns_of_their_own():
    run = evaluation(SYSTEMS, [0.1, 0.5, 0.9, 0.3])
    (one,) = run.measures
    both = (replace(one, name='q2'), replace(one, name='q2@base'))
    run = replace(run, measures=both, random_dialogue=(SYSTEMS[0].pair,))
    for table in (means_table(run), random_knowledge_table(run)):
        heads = [column.head for column in table.columns]
        assert {'no answer %', 'base no answer %'} <= set(heads)


def test_differences_are_those_of_the_figures_and_paired():
    responses = [annotated(i, (GOOD, BAD)[i % 2]) for i in range(40)]
    good = [0.9 if i % 2 == 0 else 0.1 for i in range(40)]
    # Wrong on one in four of each class.
    worse = [1 - v if i % 8 in (0, 1) else v for i, v in enumerate(good)]
    first, second = measure(responses, good, name='first'), measure(responses, worse)
    same = measure(responses, good, name='same')
    annotated_set = AnnotatedSet('small', 'a small set', tuple(responses))
    run = Evaluation(annotated_set, (first, second, same), rounds=200)
    table = difference_table(run)
    mine, equal = table.rows
    assert table.title == 'Differences from first, a small set'
    assert mine['accuracy'].mean == pytest.approx(-0.25)
    ours, theirs = (run.level(m, responses) for m in (second, first))
    assert mine['roc_auc'].mean == pytest.approx(
        ours['roc_auc'].mean - theirs['roc_auc'].mean
    )
    assert mine['accuracy'].low < mine['accuracy'].mean < mine['accuracy'].high < 0
    # Paired: two equal scorers do not differ in any resample.
    assert equal['accuracy'] == equal['roc_auc'] == (0, 0, 0)


def test_differences_are_of_responses_that_both_have():
    responses = [annotated(i, (GOOD, BAD)[i % 2]) for i in range(8)]
    # Which is of neither class, and has no part in it.
    generic = annotated(50, GENERIC)
    first = measure([*responses, generic], [1, 0] * 4 + [0], name='first')
    part = measure([*responses[:4], generic], [1, 0, 0, 1, 1], name='part')
    other = measure([annotated(99)], [0.5], name='other')
    unbounded = replace(measure(responses, [5, 2] * 4, name='far'), threshold=None)
    annotated_set = AnnotatedSet('small', 'a small set', (*responses, generic))
    run = Evaluation(annotated_set, (first, part, other, unbounded), rounds=20)
    first_row, far = difference_table(run).rows
    assert (first_row['scorer'], first_row['accuracy'].mean) == ('part', -0.5)
    assert far['accuracy'] is None
    assert far['roc_auc'].mean == 0
    assert difference_table(Evaluation(annotated_set, (first,), rounds=5)) is None


def test_a_table_as_text():
    title, _, *lines = render_text(TABLE).splitlines()
    assert title == 'A title'
    assert lines[-1] == 'A note & more.'
    assert [line.split() for line in lines[2:5]] == [
        ['q2_f1', '0.756', '[0.715,', '1.000]', '50.0'],
        ['q2_f1', '(paper)', '-', '1'],
        ['down', '-0.300', '[-0.850,', '0.000]', '-'],
    ]
    assert len({len(line) for line in lines[:5]}) == 1, 'the columns are aligned'
